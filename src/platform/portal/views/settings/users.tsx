import type { Block } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { go } from "../../live/route.ts";
import { person } from "../../live/settings.ts";
import { useLive } from "../../live/use-live.ts";
import { usePeople } from "../../live/use-people.ts";
import { Avatar, Badge } from "../../parts/bits.tsx";
import { Card, ListCard } from "../../parts/card.tsx";
import { Action, Form } from "../../parts/form.tsx";
import { Item } from "../../parts/list.tsx";
import { AccountForm } from "./account-form.tsx";

export function People() {
  const live = usePeople();
  const items = live.people.map(({ username, name }) => {
    const isSelf = username === person.value;
    const actAs = !isSelf && (
      <Action
        small
        label={`Act as @${username}`}
        run={() => {
          person.value = username;
        }}
      >
        Act as
      </Action>
    );
    return (
      <Item key={username} actions={actAs}>
        <Avatar username={username} /> <strong>{name}</strong> @{username}{" "}
        {isSelf && <Badge>you</Badge>}
      </Item>
    );
  });
  return (
    <ListCard title="People" live={live} items={items}>
      <AccountForm kind="person" create={control.createPerson} />
    </ListCard>
  );
}

interface NamesProps {
  readonly names: readonly string[];
}

export function Blocks({ names }: NamesProps) {
  const live = useLive(control.blocks, { key: "blocks", concerns: ({ kind }) => kind === "state" });
  const options = [...new Set([person.value, ...names])].map((value) => {
    return { value, label: `@${value}` };
  });
  const set = (block: Block, blocked: boolean) => control.setBlock({ ...block, blocked });
  return (
    <ListCard
      title="Blocks"
      hint={
        <>
          A block stops messages in both directions: 403 <code>BLOCKED</code>.
        </>
      }
      live={live}
      items={live.data?.map(({ by, whom }) => (
        <Item
          key={`${by} ${whom}`}
          actions={
            <Action
              small
              label={`Unblock @${whom} for @${by}`}
              run={() => set({ by, whom }, false)}
            >
              Remove
            </Action>
          }
        >
          @{by} blocks @{whom}
        </Item>
      ))}
    >
      <Form
        key={person.value}
        label="New block"
        submit="Block"
        fields={[
          { name: "by", label: "Who blocks", kind: "select", options },
          { name: "whom", label: "Who is blocked", kind: "select", options: options.toReversed() },
        ]}
        run={(values) => set({ by: values.text("by"), whom: values.text("whom") }, true)}
      />
    </ListCard>
  );
}

export function Groups({ names }: NamesProps) {
  const proposal = [...names.slice(0, 2), ...names.slice(-1)].join(", ");
  return (
    <Card
      title="Groups"
      hint={
        <>
          2 to 50 usernames. The first user sends the first message. Groups create no events, and
          bots cannot write to them: 400 <code>GROUP_UNSUPPORTED</code>.
        </>
      }
    >
      <Form
        label="New group"
        submit="Create group"
        fields={[
          { name: "members", label: "Members", required: true, value: proposal },
          {
            name: "text",
            label: "First message",
            required: true,
            maxLength: 4_000,
            value: "Hello!",
          },
        ]}
        run={async (values) => {
          const members = values
            .text("members")
            .split(/[\s,]+/)
            .filter(Boolean);
          const group = await control.createGroup({ members, text: values.text("text") });
          go("chat", group.conversationId);
        }}
      />
    </Card>
  );
}
