import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Dialog } from "./dialog.tsx";
import { say } from "./toast.tsx";

export interface Copying {
  /** @param done toast text after success */
  readonly copy: (text: string, done: string) => Promise<void>;
  /** Fallback that shows the text if the browser blocks copying. The caller must render it. */
  readonly byHand: ComponentChildren;
}

/**
 * Returns a function that copies text to the clipboard.
 *
 * @param title heading of the dialog that shows the text if copying is blocked
 */
export function useCopy(title: string): Copying {
  const [text, show] = useState<string>();
  const copy = async (wanted: string, done: string) => {
    if (await copyText(wanted)) say(done);
    else show(wanted);
  };
  const byHand = text !== undefined && (
    <TextToCopy title={title} text={text} onClose={() => show(undefined)} />
  );
  return { copy, byHand };
}

/** Returns false if the browser blocks copying. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

interface TextToCopyProps {
  readonly title: string;
  readonly text: string;
  readonly onClose: () => void;
}

function TextToCopy({ title, text, onClose }: TextToCopyProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.select(), []);
  return (
    <Dialog title={title} onClose={onClose} wide>
      <p class="hint">
        The browser blocked copying. The text is selected, so copy it with the keyboard.
      </p>
      <textarea ref={field} class="mono" rows={8} readOnly aria-label={title} value={text} />
    </Dialog>
  );
}
