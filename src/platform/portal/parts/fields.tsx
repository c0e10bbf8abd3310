import type { ComponentChildren } from "preact";
import { Field } from "./form.tsx";

interface ValueProps<T> {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly value: T;
  readonly onValue: (value: T) => void;
}

export interface TextFieldProps extends ValueProps<string> {
  readonly placeholder?: string;
  readonly required?: boolean;
  readonly maxLength?: number;
  readonly type?: "text" | "password";
}

/** A line of text. */
export function TextField(props: TextFieldProps) {
  const { label, hint, value, onValue, type = "text", ...rest } = props;
  return (
    <Field label={label} hint={hint}>
      {(ids) => (
        <input
          {...ids}
          {...rest}
          type={type as "text"}
          autoComplete="off"
          spellcheck={false}
          value={value}
          onInput={({ currentTarget }) => onValue(currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** A date and a time to the second, as the browser writes it: "2030-01-31T23:59:00", of no zone. */
export function DateTimeField({ label, value, onValue }: ValueProps<string>) {
  return (
    <Field label={label}>
      {(ids) => (
        <input
          {...ids}
          type="datetime-local"
          step={1}
          required
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
    <Field label={label} hint={hint}>
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
    <Field label={label} hint={hint}>
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

export interface ChecksProps<T extends string> {
  readonly options: readonly { readonly value: T; readonly hint: string }[];
  readonly chosen: readonly T[];
  readonly onChange: (chosen: readonly T[]) => void;
}

/** Some of several choices: a box for each, with what it means. */
export function Checks<T extends string>({ options, chosen, onChange }: ChecksProps<T>) {
  return options.map(({ value, hint }) => (
    <Check
      key={value}
      checked={chosen.includes(value)}
      onChecked={(checked) => {
        onChange(checked ? [...chosen, value] : chosen.filter((each) => each !== value));
      }}
    >
      <code>{value}</code> <span class="hint">{hint}</span>
    </Check>
  ));
}
