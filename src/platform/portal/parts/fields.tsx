import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface Option {
  readonly value: string;
  /** Default: the value. */
  readonly label?: string;
  readonly hint?: string;
  readonly checked?: boolean;
}

export interface FieldSpec {
  readonly name: string;
  readonly label: string;
  /** Default "text". */
  readonly kind?: "text" | "password" | "number" | "datetime-local" | "select" | "checks";
  readonly hint?: ComponentChildren;
  /** Saved value, shown until the user edits the field. */
  readonly value?: string | undefined;
  /** Makes a select a controlled field: `value` sets it, and a change takes effect immediately. */
  readonly onValue?: (value: string) => void;
  readonly options?: readonly Option[];
  readonly required?: boolean;
  readonly placeholder?: string;
  readonly maxLength?: number;
  readonly min?: number;
  readonly max?: number;
  readonly step?: number | "any";
}

export function Fields({ of }: { readonly of: readonly FieldSpec[] }) {
  return (
    <div class="fields">
      {of.map((spec) => (
        <Field key={spec.name} {...spec} />
      ))}
    </div>
  );
}

export function Field(props: FieldSpec) {
  const { kind = "text", label, hint, value, onValue, options = [], ...rest } = props;
  const id = useId();
  if (kind === "checks") return <Checks {...props} />;
  const shared = { ...rest, id, "aria-describedby": hint === undefined ? undefined : `${id}-hint` };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {kind === "select" ? (
        <select
          {...shared}
          value={onValue && value}
          onChange={({ currentTarget }) => onValue?.(currentTarget.value)}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label ?? option.value}
            </option>
          ))}
        </select>
      ) : (
        <input
          {...shared}
          type={kind as "text"}
          autoComplete="off"
          spellcheck={false}
          defaultValue={value}
        />
      )}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

function Checks({ name, label, hint, options = [] }: FieldSpec) {
  return (
    <fieldset>
      <legend>{label}</legend>
      {hint !== undefined && <p class="hint">{hint}</p>}
      {options.map((option) => (
        <label key={option.value} class="check">
          <input type="checkbox" name={name} value={option.value} defaultChecked={option.checked} />
          <span>
            {option.label ?? <code>{option.value}</code>} <span class="hint">{option.hint}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
