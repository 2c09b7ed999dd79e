import { useState } from "preact/hooks";
import { TokenField } from "./token-field.tsx";

export interface SignInProps {
  /** Why the service refused. */
  readonly fault: string;
  readonly onToken: (token: string) => void;
}

/** Asks for the token without which the service shows nothing. */
export function SignIn({ fault, onToken }: SignInProps) {
  const [entered, setEntered] = useState("");
  const confirm = (event: Event) => {
    event.preventDefault();
    onToken(entered);
  };
  return (
    <form class="sign-in" aria-labelledby="sign-in-title" onSubmit={confirm}>
      <h2 id="sign-in-title">Access token required</h2>
      <p>This service shows its data only to users who may get and list its objects.</p>
      <TokenField token={entered} onToken={setEntered} />
      <p class="form-fault" role="alert">
        {fault}
      </p>
      <div class="dialog-buttons">
        <button type="submit" class="primary" disabled={entered === ""}>
          Continue
        </button>
      </div>
    </form>
  );
}
