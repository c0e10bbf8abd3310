import { useState } from "preact/hooks";
import type { FaultsChange } from "../../../types.ts";
import { NumberField, type NumberFieldProps, SelectField } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";
import { changeOf, type FaultDraft, newDraft } from "./draft.ts";
import { modes, type Target, targets, targetTitles } from "./modes.ts";

interface NumberOf extends Omit<NumberFieldProps, "value" | "onValue" | "hint"> {
  readonly name: "status" | "retryAfter" | "delay" | "times" | "share";
  /** The field of a fault that this one is for. */
  readonly only?: "status" | "delay" | "retryAfter";
}

const parts = targets.map((value) => ({ value, label: targetTitles[value] }));

const matches = [
  { value: "all", label: "all" },
  { value: "write", label: "writes only" },
] as const;

/** Fields of numbers. Some faults have no use for the ones with `only`. */
const numbers: readonly NumberOf[] = [
  { name: "status", label: "Status", min: 300, max: 599, only: "status" },
  {
    ...{ name: "retryAfter", label: "Retry-After, s", only: "retryAfter" },
    ...{ min: 0, max: 86_400, placeholder: "none" },
  },
  {
    ...{ name: "delay", label: "Delay, s", only: "delay" },
    ...{ min: 0.001, max: 86_400, step: "any", required: true },
  },
  { name: "times", label: "How many", min: 1, max: 1_000_000, placeholder: "no end" },
  { name: "share", label: "Share, %", min: 0.1, max: 100, step: "any", placeholder: "all" },
];

/** Sets any fault, with all its fields. */
export function FaultForm({ set }: { readonly set: (change: FaultsChange) => Promise<void> }) {
  const [target, setTarget] = useState<Target>("webhook");
  const [draft, setDraft] = useState<FaultDraft>(() => newDraft(target));
  const info = modes[target].find(({ value }) => value === draft.mode);
  const change = (more: Partial<FaultDraft>) => setDraft({ ...draft, ...more });
  return (
    <Form
      label="A fault in detail"
      submit="Start fault"
      run={() => set(changeOf(target, draft))}
      done="The fault is set."
    >
      <div class="fields">
        <SelectField
          label="Part"
          value={target}
          options={parts}
          onValue={(next) => {
            setTarget(next);
            setDraft(newDraft(next));
          }}
        />
        <SelectField
          label="Fault"
          value={draft.mode}
          options={modes[target]}
          onValue={(mode) => change({ mode })}
        />
      </div>
      <p class="hint">{info?.bot}</p>
      <div class="fields">
        {numbers
          .filter(({ only }) => only === undefined || info?.fields?.includes(only))
          .map(({ name, ...field }) => (
            <NumberField
              key={name}
              {...field}
              value={draft[name]}
              onValue={(value) => change({ [name]: value })}
            />
          ))}
        {target === "api" && (
          <SelectField
            label="Which"
            value={draft.match}
            options={matches}
            onValue={(match) => change({ match })}
          />
        )}
      </div>
    </Form>
  );
}
