import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { attempt } from "./toast.tsx";

export interface FieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
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

/** What can be set off, and not again before it is done. */
interface Deed {
  /** What it does. Where it fails, that is said. */
  readonly run: () => unknown;
  /** What is said when it is done. */
  readonly done?: string | undefined;
}

function useDeed({ run, done }: Deed): { readonly busy: boolean; readonly start: () => void } {
  const [busy, setBusy] = useState(false);
  const start = async () => {
    if (busy) return;
    setBusy(true);
    await attempt(run, done);
    setBusy(false);
  };
  return { busy, start: () => void start() };
}

export interface ActionProps extends Deed {
  readonly tone?: "primary" | "danger" | "quiet" | undefined;
  readonly disabled?: boolean;
  readonly title?: string;
  /** The key that does the same. */
  readonly shortcut?: string | undefined;
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
  const { busy, start } = useDeed({ run, done });
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
      onClick={start}
    >
      {children}
      {shortcut !== undefined && <kbd>{shortcut}</kbd>}
    </button>
  );
}

/** Where what it does fails, the fields stay as they are. */
export interface FormProps extends Deed {
  /** What it is for, for those who hear the page. */
  readonly label: string;
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
  const { busy, start } = useDeed({ run, done });
  return (
    <form
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        if (disabled !== true) start();
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
