import { useEffect, useRef } from "preact/hooks";
import { Dialog } from "./dialog.tsx";

/** Copies a text; false where the browser does not let a page do that. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

export interface TextToCopyProps {
  readonly title: string;
  readonly text: string;
  readonly onClose: () => void;
}

/** A text to be copied by hand. */
export function TextToCopy({ title, text, onClose }: TextToCopyProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.select(), []);
  return (
    <Dialog title={title} onClose={onClose} wide>
      <p class="hint">This browser does not let a page copy. It is selected: copy it yourself.</p>
      <textarea ref={field} class="mono" rows={8} readOnly aria-label={title} value={text} />
    </Dialog>
  );
}
