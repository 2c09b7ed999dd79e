const element = (id) => document.getElementById(id);

function button(label, press) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = label;
  made.addEventListener("click", () => press(made));
  return made;
}

/** Brings a service to the front: its words, its controls and its dashboard. */
function show({ service, about, controls }, choice) {
  for (const each of element("services").children) each.setAttribute("aria-pressed", String(each === choice));
  element("about").textContent = about;
  const buttons = controls.map(({ name, label }) =>
    button(label, () => fetch(`demo/${service}/${name}`, { method: "POST", headers: { "x-demo": "1" } })),
  );
  element("controls").replaceChildren(...buttons);
  element("stage").src = `${service}/dashboard/`;
}

const actors = await (await fetch("demo/actors")).json();
const choices = actors.map((actor) => button(actor.service, (choice) => show(actor, choice)));
element("services").replaceChildren(...choices);
if (actors.length > 0) show(actors[0], choices[0]);

new EventSource("demo/lines").addEventListener("message", ({ data }) => {
  const line = document.createElement("li");
  line.textContent = JSON.parse(data);
  element("lines").append(line);
  line.scrollIntoView({ block: "end" });
});
