import type { ComponentChildren } from "preact";
import { Code } from "./bits.tsx";
import { useCopy } from "./copy-text.tsx";
import { Dialog } from "./dialog.tsx";
import { Action } from "./form.tsx";

export interface SecretDialogProps {
  readonly title: string;
  /** What belongs into the bot's .env. */
  readonly lines: string;
  readonly children: ComponentChildren;
  readonly onClose: () => void;
}

/** Shows what is not shown again. A click beside it does not close it. */
export function SecretDialog({ title, lines, children, onClose }: SecretDialogProps) {
  const { copy, byHand } = useCopy("The lines for .env");
  return (
    <Dialog title={title} onClose={onClose} firm>
      <p>
        <strong>This is shown once.</strong> Copy it into the bot's <code>.env</code> now; the
        platform does not tell it again.
      </p>
      <Code label="Lines for the .env of the bot" text={lines} />
      <div class="row">
        <Action tone="primary" run={() => copy(lines, "The lines for .env were copied.")}>
          Copy
        </Action>
        <button type="button" onClick={onClose}>
          I have it
        </button>
      </div>
      <div class="dialog-notes">{children}</div>
      {byHand}
    </Dialog>
  );
}
