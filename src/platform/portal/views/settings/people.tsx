import { useState } from "preact/hooks";
import type { Block } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { addressOf } from "../../live/route.ts";
import { person } from "../../live/settings.ts";
import { useLive } from "../../live/use-live.ts";
import { Failure } from "../../parts/bits.tsx";
import { SelectField, TextField } from "../../parts/fields.tsx";
import { Action, Form } from "../../parts/form.tsx";
import { membersIn } from "./names.ts";

interface NamesProps {
  /** Usernames of people, then of bots. */
  readonly names: readonly string[];
}

/** Who has blocked whom. */
export function Blocks({ names }: NamesProps) {
  const { data, error, reload } = useLive(control.blocks, {
    key: "blocks",
    concerns: ({ kind }) => kind === "state",
  });
  const [chosen, setChosen] = useState<Partial<Block>>({});
  const all = [...new Set([person.value, ...names])];
  const options = all.map((name) => ({ value: name, label: `@${name}` }));
  // A name that was chosen may be gone after a restore.
  const known = (name: string | undefined) => all.find((each) => each === name);
  const by = known(chosen.by) ?? person.value;
  const whom = known(chosen.whom) ?? all.at(-1) ?? "";
  const set = async (json: Block & { blocked: boolean }) => {
    await control.setBlock(json);
    await reload();
  };
  return (
    <section class="card" aria-labelledby="settings-blocks">
      <h2 id="settings-blocks">Blocks</h2>
      <p class="hint">
        A block refuses messages in both directions: 403 <code>BLOCKED</code>.
      </p>
      {error !== undefined && <Failure error={error} retry={reload} />}
      <ul class="list">
        {data?.items.map((block) => (
          <li key={`${block.by} ${block.whom}`}>
            <span class="grow">
              @{block.by} blocks @{block.whom}
            </span>
            <Action
              small
              label={`Remove the block of @${block.whom} by @${block.by}`}
              run={() => set({ ...block, blocked: false })}
            >
              Remove
            </Action>
          </li>
        ))}
      </ul>
      <Form
        label="New block"
        submit="Block"
        tone="plain"
        run={() => set({ by, whom, blocked: true })}
      >
        <div class="fields">
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
    </section>
  );
}

/** Creates groups. */
export function Groups({ names }: NamesProps) {
  const [typed, setTyped] = useState<string>();
  const [text, setText] = useState("Hello!");
  const [made, setMade] = useState<string>();
  const members = typed ?? [...names.slice(0, 2), ...names.slice(-1)].join(", ");
  return (
    <section class="card" aria-labelledby="settings-groups">
      <h2 id="settings-groups">Groups</h2>
      <p class="hint">
        A group makes no event, and a bot cannot write to it: 400 <code>GROUP_UNSUPPORTED</code>.
      </p>
      <Form
        label="New group"
        submit="Create group"
        tone="plain"
        run={async () => {
          const group = { members: membersIn(members), text };
          setMade((await control.createGroup(group)).conversationId);
        }}
        more={made !== undefined && <a href={addressOf("chat", made)}>Open {made} in Chat</a>}
      >
        <TextField
          label="Members"
          required
          hint="2 to 50 usernames, separated by commas. The first one writes."
          value={members}
          onValue={setTyped}
        />
        <TextField label="First message" required maxLength={4000} value={text} onValue={setText} />
      </Form>
    </section>
  );
}
