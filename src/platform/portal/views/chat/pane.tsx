import { useLayoutEffect, useRef } from "preact/hooks";
import type { AuthorView, Profile } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { Composer } from "../../content/composer.tsx";
import { person } from "../../live/settings.ts";
import { Empty } from "../../parts/bits.tsx";
import { Log } from "./log.tsx";
import { PaneHead } from "./pane-head.tsx";
import { OWN, type Place } from "./places.ts";
import { rolesIn } from "./roles.ts";
import { type Messages, useMessages } from "./use-messages.ts";
import { WhereaboutsLine } from "./whereabouts-line.tsx";

export interface PaneProps {
  readonly place: Place;
  readonly bot: Profile;
  /** True when its composer is to have the focus. */
  readonly wanted: boolean;
  readonly onFocused: () => void;
  /** Undefined where it is the only one. */
  readonly onClose: (() => void) | undefined;
  /** After something was written. */
  readonly onSent: () => Promise<void>;
}

/** An open conversation. */
export function Pane({ place, bot, wanted, onFocused, onClose, onSent }: PaneProps) {
  const { id, conversation } = place;
  const atEnd = useRef(true);
  const messages = useMessages(id, atEnd);
  const members = membersIn(place, messages, bot);
  const name = members.map(({ username }) => `@${username}`).join(", ") || id;
  const roles = rolesIn({ group: conversation?.group === true, members }, bot.username);
  const own = roles.from ?? person.value;
  return (
    <section class="pane drop-zone" aria-label={`Conversation: ${name}`}>
      <PaneHead id={id} members={members} group={conversation?.group === true} onClose={onClose} />
      {id === OWN ? (
        <Unbegun from={own} to={bot.username} />
      ) : (
        <Log messages={messages} atEnd={atEnd} own={own} name={name} />
      )}
      <WhereaboutsLine
        conversationId={id}
        from={own}
        shown={roles.from !== undefined && messages.data?.at(-1)?.authorUsername === own}
      />
      {roles.from === undefined ? (
        <Closed why={roles.closed} wanted={wanted} onFocused={onFocused} />
      ) : (
        <Composer
          key={`${roles.from} ${roles.to}`}
          label={`Message to @${roles.to} as @${roles.from}`}
          send="Send"
          placeholder="Write a message"
          from={roles.from}
          wanted={wanted}
          onFocused={onFocused}
          onSend={async (draft) => {
            const where = id === OWN ? {} : { conversationId: id };
            await control.act({ type: "dm.message", ...roles, ...where, ...draft });
            // Whoever writes wants to see it.
            atEnd.current = true;
            await Promise.all([messages.reload(), onSent()]);
          }}
        />
      )}
    </section>
  );
}

interface ClosedProps extends Pick<PaneProps, "wanted" | "onFocused"> {
  readonly why: string;
}

/** Why nobody can write here; it takes the focus as a composer would. */
function Closed({ why, wanted, onFocused }: ClosedProps) {
  const line = useRef<HTMLParagraphElement>(null);
  useLayoutEffect(() => {
    if (!wanted) return;
    line.current?.focus();
    onFocused();
  }, [wanted]);
  return (
    <p ref={line} class="hint closed" tabIndex={-1}>
      {why}
    </p>
  );
}

function Unbegun({ from, to }: { readonly from: string; readonly to: string }) {
  return (
    <div class="log-frame">
      <Empty title="Nothing said yet">
        <p>
          Write to @{to} as @{from}: the bot gets the event <code>dm.message</code>, and its answer
          appears here.
        </p>
      </Empty>
    </div>
  );
}

/** Where a conversation is so old that it is not in the list: those who wrote in it. */
function membersIn({ id, conversation }: Place, messages: Messages, bot: Profile) {
  if (conversation !== undefined) return conversation.members;
  const byName = new Map<string, AuthorView>();
  const add = (username: string, isBot: boolean) =>
    byName.set(username, { username, name: username, isBot });
  if (id === OWN) {
    add(person.value, false);
    add(bot.username, true);
  }
  for (const { authorUsername, fromBot } of messages.data ?? []) add(authorUsername, fromBot);
  return [...byName.values()];
}
