import { useState } from "preact/hooks";
import type { AppView, Block, Profile } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { person } from "../../live/settings.ts";
import { useLive } from "../../live/use-live.ts";
import { Failure } from "../../parts/bits.tsx";
import { SelectField } from "../../parts/fields.tsx";
import { Action, Form } from "../../parts/form.tsx";
import { useListFocus } from "../../parts/list-focus.ts";

interface BlocksProps {
  readonly people: readonly Profile[];
  readonly bots: readonly string[];
  readonly shown: AppView | undefined;
}

/** Who has blocked whom. */
export function Blocks({ people, bots, shown }: BlocksProps) {
  const { data, error, reload } = useLive(control.blocks, {
    key: "blocks",
    concerns: ({ kind }) => kind === "state",
  });
  const blocks = data?.items ?? [];
  const heading = useListFocus<HTMLHeadingElement>(blocks.length);
  const set = async (json: Required<Parameters<typeof control.setBlock>[0]>) => {
    await control.setBlock(json);
    await reload();
  };
  return (
    <section class="card" aria-labelledby="state-blocks">
      <h2 id="state-blocks" ref={heading} tabIndex={-1}>
        Blocks ({blocks.length})
      </h2>
      <p class="hint">
        With a block between them neither sends the other a message: 403 <code>BLOCKED</code>.
        Everything else goes on.
      </p>
      {error !== undefined && <Failure error={error} retry={reload} />}
      <ul class="list">
        {blocks.map((block) => (
          <Line key={`${block.by} ${block.whom}`} block={block} set={set} />
        ))}
      </ul>
      <NewBlock {...{ people, bots, set }} whom={shown?.bot.username ?? ""} />
    </section>
  );
}

type SetBlock = (block: Block & { readonly blocked: boolean }) => Promise<void>;

function Line({ block: { by, whom }, set }: { readonly block: Block; readonly set: SetBlock }) {
  return (
    <li>
      <span class="grow">
        <strong>@{by}</strong> has blocked <strong>@{whom}</strong>
      </span>
      <Action
        small
        label={`Lift the block of @${whom} by @${by}`}
        run={() => set({ by, whom, blocked: false })}
        done={`@${by} no longer blocks @${whom}.`}
      >
        Lift
      </Action>
    </li>
  );
}

interface NewBlockProps {
  readonly people: readonly Profile[];
  readonly bots: readonly string[];
  /** Who is blocked unless another one is chosen. */
  readonly whom: string;
  readonly set: SetBlock;
}

function NewBlock({ people, bots, whom: shown, set }: NewBlockProps) {
  const names = [...new Set([person.value, ...people.map(({ username }) => username), ...bots])];
  const options = names.map((name) => ({ value: name, label: `@${name}` }));
  const [chosen, setChosen] = useState<{ by?: string; whom?: string }>({});
  const by = known(chosen.by, names) ?? person.value;
  const whom = known(chosen.whom, names) ?? shown;
  return (
    <Form
      label="New block"
      submit="Block"
      disabled={whom === ""}
      run={() => set({ by, whom, blocked: true })}
      done={`@${by} has blocked @${whom}.`}
    >
      <div class="state-fields">
        <SelectField
          label="Who blocks"
          value={by}
          options={options}
          onValue={(name) => setChosen({ ...chosen, by: name })}
        />
        <SelectField
          label="Who is blocked"
          value={whom}
          options={options}
          onValue={(name) => setChosen({ ...chosen, whom: name })}
        />
      </div>
    </Form>
  );
}

/** Who was chosen may be gone after a restore. */
function known(name: string | undefined, names: readonly string[]): string | undefined {
  return name !== undefined && names.includes(name) ? name : undefined;
}
