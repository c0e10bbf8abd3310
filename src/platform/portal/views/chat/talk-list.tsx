import type { ComponentChildren } from "preact";
import type { ControlConversation, Profile } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { addressOf } from "../../live/route.ts";
import { person } from "../../live/settings.ts";
import { touches } from "../../live/touches.ts";
import { useLive } from "../../live/use-live.ts";
import { type Pages, usePages } from "../../live/use-pages.ts";
import { Avatar, Failure, Time } from "../../parts/bits.tsx";
import { Action } from "../../parts/form.tsx";
import { Icon } from "../../parts/icon.tsx";
import { traced } from "./activity.tsx";
import { between, nameOf } from "./talks.ts";

/** Reads all conversations, the latest message first. They include those of the person, however many there are. */
export function useConversations(of: string): Pages<ControlConversation> {
  const concerns = touches("conversationId");
  const all = usePages(control.conversations, { key: "conversations", concerns });
  const own = useLive(() => control.conversationsOf(of), { key: of, concerns });
  if (all.data === undefined || own.data === undefined) {
    return { ...all, data: undefined, error: all.error ?? own.error };
  }
  const byId = new Map([...all.data, ...own.data.items].map((talk) => [talk.id, talk]));
  return { ...all, data: [...byId.values()] };
}

export interface TalkListProps {
  readonly conversations: Pages<ControlConversation>;
  readonly people: readonly Profile[];
  readonly bot: Profile;
  /** The id of the open conversation, or "posts". */
  readonly open: string | undefined;
  readonly onNew: () => void;
}

/** The posts, the people who talk to the bot, and conversations without it. */
export function TalkList({ conversations, people, bot, open, onNew }: TalkListProps) {
  const { data: all = [], error, reload, more, loadMore } = conversations;
  const names = new Set([...people.map(({ username }) => username), person.value]);
  const talks = [...names].map((name) => ({ name, talk: between(all, name, bot.username) }));
  const others = all.filter((each) => !talks.some(({ talk }) => talk?.id === each.id));
  return (
    <section class="talks" aria-label="Conversations">
      {error !== undefined && <Failure error={error} retry={reload} />}
      <ul>
        <Talk id="posts" isOpen={open === "posts"} name="Posts">
          <span class="avatar">
            <Icon name="posts" />
          </span>
        </Talk>
        {talks.map(({ name, talk }) => (
          <Talk
            key={name}
            speaker={name}
            isOpen={open === talk?.id && (talk !== undefined || name === person.value)}
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
            id={talk.id}
            isOpen={open === talk.id}
            name={nameOf(talk.members)}
            talk={talk}
          >
            <Avatar username={talk.members[0]?.username ?? "?"} />
          </Talk>
        ))}
      </ul>
      {more && <Action run={loadMore}>Show more</Action>}
    </section>
  );
}

interface TalkProps {
  /** Default: the conversation of the speaker with the bot. */
  readonly id?: string;
  /** Username of the person to speak as. */
  readonly speaker?: string;
  readonly isOpen: boolean;
  readonly name: string;
  readonly talk?: ControlConversation | undefined;
  /** The picture. */
  readonly children: ComponentChildren;
}

function Talk({ id, speaker, isOpen, name, talk, children }: TalkProps) {
  return (
    <li>
      <a
        class="talk"
        href={addressOf("chat", id)}
        aria-current={isOpen ? "true" : undefined}
        onClick={() => {
          traced.value = undefined;
          if (speaker !== undefined) person.value = speaker;
        }}
      >
        {children}
        <strong>{name}</strong>
        {talk !== undefined && (
          <>
            <Time at={talk.lastMessageAt} />
            <span class="hint talk-last">{summary(talk.lastMessage)}</span>
          </>
        )}
      </a>
    </li>
  );
}

function summary({ text, images }: ControlConversation["lastMessage"]): string {
  if (text !== "") return text;
  if (images === 0) return "deleted";
  return images === 1 ? "1 image" : `${images} images`;
}
