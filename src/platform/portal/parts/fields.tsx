import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Field } from "./form.tsx";
import { attempt } from "./toast.tsx";

export interface FormProps {
  /** What it is for, for those who hear the page. */
  readonly label: string;
  /** What it does when it is sent. Where it fails, that is said, and the fields stay as they are. */
  readonly run: () => unknown;
  /** What is said when it is done. */
  readonly done?: string;
  readonly submit: string;
  readonly disabled?: boolean;
  readonly children: ComponentChildren;
  /** What stands beside the button. */
  readonly more?: ComponentChildren;
}

/** A form with one button that sends it; Enter in a field does, too. */
export function Form({ label, run, done, submit, disabled, children, more }: FormProps) {
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
        <button type="submit" class="primary" aria-busy={busy} disabled={disabled ?? false}>
          {submit}
        </button>
        {more}
      </div>
    </form>
  );
}

interface ValueProps<T> {
  readonly label: string;
  readonly hint?: string;
  readonly value: T;
  readonly onValue: (value: T) => void;
}

export interface TextFieldProps extends ValueProps<string> {
  readonly placeholder?: string;
  readonly required?: boolean;
  readonly maxLength?: number;
  readonly type?: "text" | "url" | "datetime-local";
  readonly step?: number;
}

/** A line of text. */
export function TextField({ label, hint, value, onValue, ...rest }: TextFieldProps) {
  return (
    <Field label={label} {...(hint === undefined ? {} : { hint })}>
      {(ids) => (
        <input
          {...ids}
          type="text"
          autoComplete="off"
          spellcheck={false}
          {...rest}
          value={value}
          onInput={({ currentTarget }) => onValue(currentTarget.value)}
        />
      )}
    </Field>
  );
}

export interface NumberFieldProps extends ValueProps<string> {
  readonly min: number;
  readonly max: number;
  readonly placeholder?: string;
  readonly required?: boolean;
  readonly step?: number | "any";
}

/** A number, as it was typed: empty for none. */
export function NumberField({ label, hint, value, onValue, step = 1, ...rest }: NumberFieldProps) {
  return (
    <Field label={label} {...(hint === undefined ? {} : { hint })}>
      {(ids) => (
        <input
          {...ids}
          {...rest}
          type="number"
          step={step}
          inputMode="decimal"
          value={value}
          onInput={({ currentTarget }) => onValue(currentTarget.value)}
        />
      )}
    </Field>
  );
}

export interface SelectFieldProps<T extends string> extends ValueProps<T> {
  readonly options: readonly { readonly value: T; readonly label: string }[];
}

/** One of some choices. */
export function SelectField<T extends string>(props: SelectFieldProps<T>) {
  const { label, hint, value, onValue, options } = props;
  return (
    <Field label={label} {...(hint === undefined ? {} : { hint })}>
      {(ids) => (
        <select
          {...ids}
          value={value}
          onChange={({ currentTarget }) => onValue(currentTarget.value as T)}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export interface CheckProps {
  readonly checked: boolean;
  readonly onChecked: (checked: boolean) => void;
  readonly children: ComponentChildren;
}

/** A box to check, with its name. */
export function Check({ checked, onChecked, children }: CheckProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={checked}
        onChange={({ currentTarget }) => onChecked(currentTarget.checked)}
      />
      <span>{children}</span>
    </label>
  );
}
