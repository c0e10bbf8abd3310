import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { attempt } from "./toast.tsx";

export interface FieldProps {
  readonly label: string;
  readonly hint?: string;
  /** Gets the id of the field, to be set on it, and that of the hint. */
  readonly children: (ids: {
    id: string;
    "aria-describedby": string | undefined;
  }) => ComponentChildren;
}

/** A field with its name, and a hint. */
export function Field({ label, hint, children }: FieldProps) {
  const id = useId();
  const hintId = `${id}-hint`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, "aria-describedby": hint === undefined ? undefined : hintId })}
      {hint !== undefined && (
        <p class="hint" id={hintId}>
          {hint}
        </p>
      )}
    </div>
  );
}

export interface ActionProps {
  /** What it does. Where it fails, that is said. */
  readonly run: () => unknown;
  /** What is said when it is done. */
  readonly done?: string;
  readonly tone?: "primary" | "danger" | "quiet";
  readonly disabled?: boolean;
  readonly title?: string;
  /** The key that does the same. */
  readonly shortcut?: string;
  readonly label?: string;
  readonly small?: boolean;
  readonly children: ComponentChildren;
}

/** A button that does something on the platform, and cannot be pressed again until that is done. */
export function Action({
  run,
  done,
  tone,
  disabled,
  title,
  shortcut,
  label,
  small = false,
  children,
}: ActionProps) {
  const [busy, setBusy] = useState(false);
  return (
    <button
      type="button"
      class={small ? `${tone ?? ""} small` : tone}
      // Not disabled while it works: that would take the focus from those who use the keyboard.
      disabled={disabled ?? false}
      aria-busy={busy}
      aria-keyshortcuts={shortcut}
      aria-label={label}
      title={title}
      onClick={async () => {
        if (busy) return;
        setBusy(true);
        await attempt(run, done);
        setBusy(false);
      }}
    >
      {children}
      {shortcut !== undefined && <kbd>{shortcut}</kbd>}
    </button>
  );
}

export interface FormProps {
  /** What it is for, for those who hear the page. */
  readonly label: string;
  /** What it does when it is sent. Where it fails, that is said, and the fields stay as they are. */
  readonly run: () => unknown;
  /** What is said when it is done. */
  readonly done?: string;
  readonly submit: string;
  /** Its button is one among many. Default: it is what the form is for. */
  readonly tone?: "plain";
  readonly disabled?: boolean;
  readonly children: ComponentChildren;
  /** What stands beside the button. */
  readonly more?: ComponentChildren;
}

/** A form with one button that sends it; Enter in a field does, too. */
export function Form(props: FormProps) {
  const { label, run, done, submit, tone, disabled, children, more } = props;
  const [busy, setBusy] = useState(false);
  const send = async () => {
    if (busy || disabled === true) return;
    setBusy(true);
    await attempt(run, done);
    setBusy(false);
  };
  return (
    <form
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {children}
      <div class="row">
        <button
          type="submit"
          class={tone === "plain" ? "" : "primary"}
          aria-busy={busy}
          disabled={disabled ?? false}
        >
          {submit}
        </button>
        {more}
      </div>
    </form>
  );
}
