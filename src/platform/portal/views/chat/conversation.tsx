import type { ComponentChildren } from "preact";
import type { AuthorView, ControlConversation, Profile } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { Composer } from "../../content/composer.tsx";
import { person } from "../../live/settings.ts";
import { Empty } from "../../parts/bits.tsx";
import { Icon } from "../../parts/icon.tsx";
import { ActivityButton } from "./activity.tsx";
import { Log } from "./log.tsx";
import { nameOf, rolesIn } from "./talks.ts";

export interface ConversationProps {
  /** `undefined` if the conversation has no messages yet. */
  readonly id: string | undefined;
  readonly conversation: ControlConversation | undefined;
  readonly bot: Profile;
}

export function Conversation({ id, conversation, bot }: ConversationProps) {
  const { group, members } = conversation ?? {
    group: false,
    members: [speaker(), { ...bot, isBot: true }],
  };
  const roles = rolesIn({ group, members }, bot.username);
  const name = nameOf(members);
  return (
    <section class="pane drop-zone" aria-label={`Conversation: ${name}`}>
      <PaneHead title={name}>{group && <span class="badge">group</span>}</PaneHead>
      {id === undefined ? (
        <Empty title="No messages yet">
          <p>
            Write to @{bot.username}: the bot gets a <code>dm.message</code> event, and its reply
            appears here.
          </p>
        </Empty>
      ) : (
        <Log id={id} own={roles.from ?? person.value} name={name} />
      )}
      {roles.from === undefined ? (
        <p class="note">{roles.closed}</p>
      ) : (
        <Composer
          key={`${roles.from} ${roles.to}`}
          label={`Message to @${roles.to} as @${roles.from}`}
          send="Send"
          placeholder={`Message @${roles.to}`}
          from={roles.from}
          onSend={async (content) => {
            const place = id === undefined ? {} : { conversationId: id };
            await control.act({ type: "dm.message", ...roles, ...place, ...content });
            document.querySelector(".log")?.scrollTo(0, 0);
          }}
        />
      )}
    </section>
  );
}

function speaker(): AuthorView {
  return { username: person.value, name: person.value, isBot: false };
}

/** On a phone, the title links back to the list. */
export function PaneHead({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <header class="pane-head">
      <a class="back" href="#/chat/list" aria-label="Conversations">
        <Icon name="back" />
      </a>
      <h2>{title}</h2>
      {children}
      <ActivityButton />
    </header>
  );
}
