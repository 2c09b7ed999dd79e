import { useState } from "preact/hooks";

/** A command to copy. Where the clipboard is not allowed (plain HTTP), the text is selected by a click instead. */
export function Command({ text, label }: { readonly text: string; readonly label: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <span class="command">
      <code>{text}</code>
      {window.isSecureContext && (
        <button type="button" class="plain" aria-label={label} onClick={() => void copy()}>
          {copied ? "Copied" : "Copy"}
        </button>
      )}
    </span>
  );
}
