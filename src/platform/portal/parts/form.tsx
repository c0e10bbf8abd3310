import type { ComponentChildren, TargetedEvent } from "preact";
import { useState } from "preact/hooks";
import { Dialog } from "./dialog.tsx";
import { type FieldSpec, Fields } from "./fields.tsx";
import { attempt } from "./toast.tsx";
import { Values } from "./values.ts";

function useTask(run: (form?: HTMLFormElement) => unknown, done: string | undefined) {
  const [busy, setBusy] = useState(false);
  const start = async (form?: HTMLFormElement) => {
    if (busy) return;
    setBusy(true);
    await attempt(() => run(form), done);
    setBusy(false);
  };
  return { busy, start };
}

export interface ActionProps {
  /** If it throws, the page shows the error message. */
  readonly run: () => unknown;
  readonly done?: string | undefined;
  readonly tone?: "primary" | "danger" | "quiet" | undefined;
  readonly disabled?: boolean;
  readonly title?: string | undefined;
  readonly shortcut?: string | undefined;
  readonly label?: string;
  readonly small?: boolean;
  readonly children: ComponentChildren;
  readonly confirm?:
    | { readonly title: string; readonly text: ComponentChildren; readonly submit: string }
    | undefined;
}

export function Action({ run, done, confirm, ...look }: ActionProps) {
  const { tone, disabled = false, title, shortcut, label, small = false, children } = look;
  const { busy, start } = useTask(run, done);
  const [isAsking, setAsking] = useState(false);
  const close = () => setAsking(false);
  return (
    <>
      <button
        type="button"
        class={`${tone ?? ""} ${small ? "small" : ""}`}
        // Do not disable the button during the change, because it would lose the focus.
        disabled={disabled}
        aria-busy={busy}
        aria-haspopup={confirm && "dialog"}
        aria-keyshortcuts={shortcut}
        aria-label={label}
        title={title}
        onClick={() => (confirm === undefined ? void start() : setAsking(true))}
      >
        {children}
        {shortcut !== undefined && <kbd>{shortcut}</kbd>}
      </button>
      {confirm !== undefined && isAsking && (
        <Dialog title={confirm.title} onClose={close}>
          <p>{confirm.text}</p>
          <div class="row dialog-actions">
            <button type="button" onClick={close}>
              Cancel
            </button>
            <Action
              tone={tone ?? "primary"}
              done={done}
              run={async () => {
                await run();
                close();
              }}
            >
              {confirm.submit}
            </Action>
          </div>
        </Dialog>
      )}
    </>
  );
}

export interface FormProps {
  readonly label: string;
  readonly fields?: readonly FieldSpec[];
  readonly submit: ComponentChildren;
  /** Keyboard shortcut that submits the initial values. */
  readonly shortcut?: string | undefined;
  readonly tone?: "primary";
  /** If it throws, the page shows the error message and the fields keep their values. */
  readonly run: (values: Values) => unknown;
  readonly done?: string | undefined;
  /** Keeps the submitted values in the fields. By default, the initial values return. */
  readonly keeps?: boolean;
  readonly onInput?: (event: TargetedEvent<HTMLFormElement>) => void;
  readonly onReset?: () => void;
  readonly children?: ComponentChildren;
  readonly more?: ComponentChildren;
}

export function Form(props: FormProps) {
  const {
    label,
    fields = [],
    submit,
    shortcut,
    tone,
    keeps = false,
    onInput,
    onReset,
    children,
    more,
  } = props;
  const { busy, start } = useTask(async (form) => {
    await props.run(new Values(form));
    if (keeps) saveDefaults(form);
    form?.reset();
  }, props.done);
  return (
    <form
      aria-label={label}
      onInput={onInput}
      onReset={onReset}
      onSubmit={(event) => {
        event.preventDefault();
        void start(event.currentTarget);
      }}
    >
      {fields.length > 0 && <Fields of={fields} />}
      {children}
      <div class="row">
        <button type="submit" class={tone} aria-busy={busy} aria-keyshortcuts={shortcut}>
          {submit}
          {shortcut !== undefined && <kbd>{shortcut}</kbd>}
        </button>
        {more}
      </div>
    </form>
  );
}

/** Makes the current values the initial ones, so that a reset returns to them. */
function saveDefaults(form: HTMLFormElement | undefined): void {
  for (const input of form?.querySelectorAll("input") ?? []) {
    if (input.type === "checkbox") input.defaultChecked = input.checked;
    else input.defaultValue = input.value;
  }
  for (const option of form?.querySelectorAll("option") ?? []) {
    option.defaultSelected = option.selected;
  }
}
