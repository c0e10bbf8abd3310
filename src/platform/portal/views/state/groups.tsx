import { useState } from "preact/hooks";
import type { Profile } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { addressOf } from "../../live/route.ts";
import { TextField } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";
import { membersIn } from "./names.ts";

interface GroupsProps {
  readonly people: readonly Profile[];
  readonly bots: readonly string[];
  readonly reload: () => Promise<void>;
}

/** Makes a group, to see what a bot does with one that it is in, and with one that it must not see. */
export function Groups({ people, bots, reload }: GroupsProps) {
  const [typed, setTyped] = useState<string>();
  const [text, setText] = useState("Hello!");
  const [made, setMade] = useState<string>();
  const usual = [...people.slice(0, 2).map(({ username }) => username), ...bots.slice(0, 1)];
  const members = typed ?? usual.join(", ");
  return (
    <section class="card" aria-labelledby="state-groups">
      <h2 id="state-groups">Groups</h2>
      <p class="hint">
        A group makes no event, and a bot cannot write to it: 400 <code>GROUP_UNSUPPORTED</code>.
        One without the bot is one that it must not see.
      </p>
      <Form
        label="New group"
        submit="Make group"
        run={async () => {
          const group = { members: membersIn(members), text };
          setMade((await control.createGroup(group)).conversationId);
          await reload();
        }}
        done="The group is there."
        more={made !== undefined && <a href={addressOf("chat", made)}>Open {made} in Chat</a>}
      >
        <TextField
          label="Members"
          required
          hint="2 to 50 usernames, with commas between; the first one writes."
          value={members}
          onValue={setTyped}
        />
        <TextField label="First message" required maxLength={4000} value={text} onValue={setText} />
      </Form>
    </section>
  );
}
