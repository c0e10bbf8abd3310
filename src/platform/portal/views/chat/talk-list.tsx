import type { ComponentChildren } from "preact";
import type { ControlConversation, Profile } from "../../../types.ts";
import { addressOf } from "../../live/route.ts";
import { person } from "../../live/settings.ts";
import type { Pages } from "../../live/use-pages.ts";
import { Avatar, Failure, Time } from "../../parts/bits.tsx";
import { Action } from "../../parts/form.tsx";
import { Icon } from "../../parts/icon.tsx";
import { between, nameOf } from "./talks.ts";

export interface TalkListProps {
  readonly conversations: Pages<ControlConversation>;
  readonly people: readonly Profile[];
  readonly bot: Profile;
  readonly isPosts: boolean;
  /** The id of the open conversation. */
  readonly open: string | undefined;
  readonly onNew: () => void;
}

/** The posts, the people who talk to the bot, and conversations without it. */
export function TalkList({ conversations, people, bot, isPosts, open, onNew }: TalkListProps) {
  const all = conversations.data ?? [];
  const names = new Set([...people.map(({ username }) => username), person.value]);
  const talks = [...names].map((name) => ({ name, talk: between(all, name, bot.username) }));
  const others = all.filter((each) => !talks.some(({ talk }) => talk?.id === each.id));
  return (
    <section class="talks" aria-label="Conversations">
      {conversations.error !== undefined && (
        <Failure error={conversations.error} retry={conversations.reload} />
      )}
      <ul>
        <Talk href={addressOf("chat", "posts")} isOpen={isPosts} name="Posts">
          <span class="avatar">
            <Icon name="posts" />
          </span>
        </Talk>
        {talks.map(({ name, talk }) => (
          <Talk
            key={name}
            href={addressOf("chat")}
            onOpen={() => {
              person.value = name;
            }}
            isOpen={
              !isPosts &&
              (talk === undefined ? open === undefined : open === talk.id) &&
              (talk !== undefined || name === person.value)
            }
            name={`@${name}`}
            talk={talk}
          >
            <Avatar username={name} />
          </Talk>
        ))}
      </ul>
      <button type="button" class="quiet" onClick={onNew} aria-keyshortcuts="p">
        <Icon name="plus" /> New person
      </button>
      {others.length > 0 && <h2 class="hint">Other conversations</h2>}
      <ul>
        {others.map((talk) => (
          <Talk
            key={talk.id}
            href={addressOf("chat", talk.id)}
            isOpen={open === talk.id}
            name={nameOf(talk)}
            talk={talk}
          >
            <Avatar username={talk.members[0]?.username ?? "?"} />
          </Talk>
        ))}
      </ul>
      {conversations.more && <Action run={conversations.loadMore}>Show more</Action>}
    </section>
  );
}

interface TalkProps {
  readonly href: string;
  readonly isOpen: boolean;
  readonly onOpen?: () => void;
  readonly name: string;
  readonly talk?: ControlConversation | undefined;
  /** The picture. */
  readonly children: ComponentChildren;
}

function Talk({ href, isOpen, onOpen, name, talk, children }: TalkProps) {
  return (
    <li>
      <a class="talk" href={href} aria-current={isOpen ? "true" : undefined} onClick={onOpen}>
        {children}
        <strong>{name}</strong>
        {talk !== undefined && <Time at={talk.lastMessageAt} />}
        {talk !== undefined && <span class="hint talk-last">{summary(talk.lastMessage)}</span>}
      </a>
    </li>
  );
}

function summary({ text, images }: ControlConversation["lastMessage"]): string {
  if (text !== "") return text;
  if (images === 0) return "deleted";
  return images === 1 ? "1 image" : `${images} images`;
}
