import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Dialog } from "./dialog.tsx";
import { Action } from "./form.tsx";
import { attempt } from "./toast.tsx";

export interface ConfirmedProps {
  /** What the button says that asks. */
  readonly ask: string;
  /** Its name, where what it says is not enough. */
  readonly label?: string;
  readonly title: string;
  /** What it would do, and whether it can be undone. */
  readonly children: ComponentChildren;
  /** What the button says that does it. */
  readonly confirm: string;
  readonly run: () => unknown;
  /** What is said when it is done. */
  readonly done?: string;
  readonly tone?: "danger" | "primary";
  readonly small?: boolean;
}

/** A button for what is not done before it was confirmed. */
export function Confirmed(props: ConfirmedProps) {
  const { ask, label, title, children, confirm, run, done, tone = "danger", small = false } = props;
  const [open, setOpen] = useState(false);
  const close = () => setOpen(false);
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
      {open && (
        <Dialog title={title} onClose={close}>
          {children}
          <div class="row dialog-actions">
            <button type="button" onClick={close}>
              Cancel
            </button>
            <Action
              tone={tone}
              run={async () => {
                if (await attempt(run, done)) close();
              }}
            >
              {confirm}
            </Action>
          </div>
        </Dialog>
      )}
    </>
  );
}
