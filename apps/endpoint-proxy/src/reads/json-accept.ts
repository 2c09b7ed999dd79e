/** What members are asked for: the forms of JSON that the client accepts, such as a Table or metadata alone. */
export function jsonAccept(accept: string | undefined): string {
  const forms = (accept ?? "").split(",").map((form) => form.trim());
  const json = forms.filter((form) => /^application\/json\s*(;|$)/i.test(form));
  return json.length === 0 ? "application/json" : json.join(",");
}
