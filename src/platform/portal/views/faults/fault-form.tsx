import { useState } from "preact/hooks";
import { control } from "../../api/control.ts";
import { Fields } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";
import { Values } from "../../parts/values.ts";
import {
  changeOf,
  fieldsOf,
  type ModeInfo,
  modes,
  type Target,
  targets,
  targetTitles,
} from "./modes.ts";

const targetOptions = targets.map((value) => ({ value, label: targetTitles[value] }));

/** Sets any fault, with all its fields. */
export function FaultForm() {
  const [target, setTarget] = useState<Target>("webhook");
  const [mode, setMode] = useState("status");
  const [first] = modes[target];
  const info = modes[target].find((each) => each.mode === mode) ?? (first as ModeInfo);
  return (
    <Form
      keeps
      tone="primary"
      label="A fault in detail"
      submit="Start fault"
      fields={[{ name: "target", label: "Part", kind: "select", options: targetOptions }]}
      onInput={({ currentTarget }) => {
        const values = new Values(currentTarget);
        const next = values.text("target") as Target;
        setTarget(next);
        setMode(next === target ? values.text("mode") : "");
      }}
      run={(values) => control.setFaults(changeOf(target, info, values))}
    >
      <Fields
        key={target}
        of={[
          {
            ...{ name: "mode", label: "Fault", kind: "select", hint: info.bot },
            options: modes[target].map(({ mode: value, label }) => ({ value, label })),
          },
          ...fieldsOf(info),
        ]}
      />
    </Form>
  );
}
