import { useEffect, useRef, useState } from "preact/hooks";
import type { Access } from "../api/access.ts";
import type { Api } from "../api/api.ts";
import { faultText, Refused } from "../api/refused.ts";
import type { Action } from "../view.ts";
import { TokenField } from "./token-field.tsx";

export interface ActionDialogProps {
  readonly api: Api;
  readonly action: Action;
  readonly access: Access;
  readonly onDone: (done: boolean) => void;
}

/** Asks before something is changed, and for the token that the service checks. */
export function ActionDialog({ api, action, access, onDone }: ActionDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [entered, setEntered] = useState(access.token);
  const [asking, setAsking] = useState(access.token === "");
  const [fault, setFault] = useState("");
  const [busy, setBusy] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);

  const confirm = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setFault("");
    try {
      await api.act(action.method, action.request, entered);
      access.token = entered;
      onDone(true);
    } catch (error) {
      setFault(faultText(error));
      if (error instanceof Refused && error.denied) setAsking(true);
      setBusy(false);
    }
  };

  return (
    <dialog ref={dialog} aria-labelledby="action-title" onClose={() => onDone(false)}>
      <form onSubmit={(event) => void confirm(event)}>
        <h2 id="action-title">{action.title}?</h2>
        <p>{action.consequence}</p>
        {asking && <TokenField token={entered} onToken={setEntered} />}
        {fault !== "" && (
          <p class="form-fault" role="alert">
            {fault}
          </p>
        )}
        <div class="dialog-buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={busy}>
            {busy ? "Sending…" : action.title}
          </button>
        </div>
      </form>
    </dialog>
  );
}
