import { useState } from "preact/hooks";
import type { LimitName, LimitView } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { bot } from "../../live/settings.ts";
import { useLive } from "../../live/use-live.ts";
import { Failure } from "../../parts/bits.tsx";
import { NumberField } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";
import { limitNames, limitTexts, typedLimit, usage } from "./limit-names.ts";

/** The rate limit and the quotas of the bot that is shown, with their use. */
export function Limits() {
  const { data, error, reload } = useLive(control.limits, {
    key: bot.value,
    concerns: ({ kind }) => kind === "api" || kind === "state",
  });
  const set = async (name: LimitName, limit: number | null) => {
    await control.setLimits({ [name]: limit });
    await reload();
  };
  return (
    <section class="card limits" aria-labelledby="settings-limits">
      <h2 id="settings-limits">Limits</h2>
      <p class="hint">A request above a limit gets 429 and Retry-After. Empty is no limit.</p>
      {error !== undefined && <Failure error={error} retry={reload} />}
      {data !== undefined &&
        limitNames.map((name) => <Limit key={name} name={name} view={data[name]} set={set} />)}
    </section>
  );
}

interface LimitProps {
  readonly name: LimitName;
  readonly view: LimitView;
  readonly set: (name: LimitName, limit: number | null) => Promise<void>;
}

function Limit({ name, view, set }: LimitProps) {
  const [typed, setTyped] = useState<string>();
  const { limit } = view;
  return (
    <Form
      label={`Limit of ${limitTexts[name].toLowerCase()}`}
      submit="Set"
      tone="plain"
      run={async () => {
        const text = typed ?? "";
        await set(name, text.trim() === "" ? null : typedLimit(text));
        setTyped(undefined);
      }}
      more={<span class="hint">{usage(view)}</span>}
    >
      <NumberField
        label={limitTexts[name]}
        min={0}
        max={1_000_000}
        placeholder="no limit"
        value={typed ?? (limit === null ? "" : String(limit))}
        onValue={setTyped}
      />
    </Form>
  );
}
