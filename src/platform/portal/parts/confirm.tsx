import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Dialog } from "./dialog.tsx";
import { Action } from "./form.tsx";

interface Asked {
  readonly title: string;
  /** What it would do, and whether it can be undone. */
  readonly children: ComponentChildren;
  /** What the button says that does it. */
  readonly confirm: string;
  readonly run: () => unknown;
  /** What is said when it is done. */
  readonly done?: string | undefined;
  readonly tone?: "danger" | "primary";
}

export interface ConfirmDialogProps extends Asked {
  readonly onClose: () => void;
}

/** Asks before something is done; closes when it is, or was given up. */
function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, children, confirm, run, done, tone = "danger", onClose } = props;
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <div class="row dialog-actions">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <Action
          tone={tone}
          run={async () => {
            await run();
            onClose();
          }}
          done={done}
        >
          {confirm}
        </Action>
      </div>
    </Dialog>
  );
}

export interface ConfirmedProps extends Asked {
  /** What the button says that asks. */
  readonly ask: string;
  /** Its name, where what it says is not enough. */
  readonly label?: string;
  readonly small?: boolean;
}

/** A button for what is not done before it was confirmed. */
export function Confirmed({ ask, label, small = false, ...asked }: ConfirmedProps) {
  const [open, setOpen] = useState(false);
  const { tone = "danger" } = asked;
  return (
    <>
      <button
        type="button"
        class={`${tone === "danger" ? tone : ""} ${small ? "small" : ""}`}
        aria-label={label}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        {ask}
      </button>
      {open && <ConfirmDialog {...asked} onClose={() => setOpen(false)} />}
    </>
  );
}
