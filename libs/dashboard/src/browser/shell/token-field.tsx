export interface TokenFieldProps {
  readonly token: string;
  readonly onToken: (token: string) => void;
}

export function TokenField({ token, onToken }: TokenFieldProps) {
  return (
    <label class="field">
      <span>Bearer token</span>
      <input
        type="password"
        autocomplete="off"
        value={token}
        onInput={(event) => onToken(event.currentTarget.value.trim())}
      />
      <small>
        Create one with <code>kubectl create token &lt;service account&gt;</code>. The service checks it with the
        Kubernetes API server. The page keeps it in memory and forgets it when you close the page.
      </small>
    </label>
  );
}
