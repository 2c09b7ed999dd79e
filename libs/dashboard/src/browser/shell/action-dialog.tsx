import { useEffect, useRef, useState } from "preact/hooks";
import type { Api } from "../api/api.ts";
import { faultText, Refused } from "../api/refused.ts";
import type { Action } from "../view.ts";

export interface ActionDialogProps {
  readonly api: Api;
  readonly action: Action;
  /** In memory alone: it is gone with the page. */
  readonly token: string;
  readonly onToken: (token: string) => void;
  readonly onDone: (done: boolean) => void;
}

/** Asks before something is changed, and for the token that the service will check. */
export function ActionDialog({ api, action, token, onToken, onDone }: ActionDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [entered, setEntered] = useState(token);
  const [asking, setAsking] = useState(token === "");
  const [fault, setFault] = useState("");
  const [busy, setBusy] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);

  const confirm = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setFault("");
    try {
      await api.act(action.method, action.request, entered.trim());
      onToken(entered.trim());
      onDone(true);
    } catch (error) {
      setFault(faultText(error));
      // A token that nobody knows, or whose rights end here, is asked for again.
      if (error instanceof Refused && (error.status === 401 || error.status === 403)) setAsking(true);
      setBusy(false);
    }
  };

  return (
    <dialog ref={dialog} aria-labelledby="action-title" onClose={() => onDone(false)}>
      <form onSubmit={(event) => void confirm(event)}>
        <h2 id="action-title">{action.title}?</h2>
        <p>{action.consequence}</p>
        {asking && (
          <label class="field">
            <span>Bearer token</span>
            <input
              type="password"
              autocomplete="off"
              required
              value={entered}
              onInput={(event) => setEntered(event.currentTarget.value)}
            />
            <small>
              The service checks it with the Kubernetes API server. It stays in this page's memory and is gone when you
              leave. <code>kubectl create token</code> makes one.
            </small>
          </label>
        )}
        {fault !== "" && (
          <p class="form-fault" role="alert">
            {fault}
          </p>
        )}
        <div class="dialog-buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={busy || entered.trim() === ""}>
            {busy ? "Asking…" : action.title}
          </button>
        </div>
      </form>
    </dialog>
  );
}
