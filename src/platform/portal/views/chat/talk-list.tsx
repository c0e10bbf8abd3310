import type { ControlConversation, Profile } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { addressOf } from "../../live/route.ts";
import { person } from "../../live/settings.ts";
import { touches } from "../../live/touches.ts";
import { useLive } from "../../live/use-live.ts";
import { type Pages, usePages } from "../../live/use-pages.ts";
import { Avatar, Failure, Time } from "../../parts/bits.tsx";
import { Icon } from "../../parts/icon.tsx";
import { List } from "../../parts/list.tsx";
import { isFailing, traced } from "./activity.tsx";
import { between, nameOf } from "./talks.ts";

/**
 * Reads all conversations, sorted by latest message. Includes every conversation of the user, even those beyond the
 * first page.
 */
export function useConversations(of: string): Pages<ControlConversation> {
  const concerns = touches("conversationId");
  const all = usePages((cursor) => control.conversations({ limit: 50, cursor }), {
    key: "conversations",
    concerns,
  });
  const own = useLive(() => control.conversations({ of, limit: 50 }), { key: of, concerns });
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
  /** Conversation id, or "posts". */
  readonly open: string | undefined;
  readonly onNew: () => void;
}

export function TalkList({ conversations, people, bot, open, onNew }: TalkListProps) {
  const { data: all = [], error, reload, more } = conversations;
  const names = new Set([...people.map(({ username }) => username), person.value]);
  const own = [...names].map((speaker) => {
    const talk = between(all, speaker, bot.username);
    const isOpen = talk === undefined ? open === undefined : open === talk.id;
    return { speaker, talk, isOpen: isOpen && (talk !== undefined || speaker === person.value) };
  });
  const others = all.filter((each) => own.every(({ talk }) => talk?.id !== each.id));
  return (
    <section class="talks" aria-label="Conversations">
      {error !== undefined && <Failure error={error} retry={reload} />}
      <List
        look="talk-list"
        more={more}
        items={[
          <Talk key="posts" isOpen={open === "posts"} />,
          ...own.map((row) => <Talk key={`@${row.speaker}`} {...row} />),
          ...others.map((talk) => <Talk key={talk.id} talk={talk} isOpen={open === talk.id} />),
        ]}
      />
      <button type="button" class="quiet" onClick={onNew} aria-keyshortcuts="p">
        <Icon name="plus" /> New person
      </button>
    </section>
  );
}

interface TalkProps {
  /** Username of the user to act as. If omitted, the row opens the conversation by its id. */
  readonly speaker?: string;
  /** If `speaker` and `talk` are both omitted, the row opens the posts. */
  readonly talk?: ControlConversation | undefined;
  readonly isOpen: boolean;
}

function Talk({ speaker, talk, isOpen }: TalkProps) {
  const id = speaker === undefined ? (talk?.id ?? "posts") : "";
  const isBad = isFailing(talk?.id ?? id);
  const others = talk === undefined ? "Posts" : nameOf(talk.members);
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
        {id === "posts" ? (
          <span class="avatar">
            <Icon name="posts" />
          </span>
        ) : (
          <Avatar username={speaker ?? talk?.members[0]?.username ?? "?"} />
        )}
        <strong>
          {speaker === undefined ? others : `@${speaker}`}
          {isBad && (
            <span class="bad">
              {" "}
              <Icon name="alert" />
              <span class="visually-hidden">failed</span>
            </span>
          )}
        </strong>
        {talk !== undefined && (
          <>
            <span class={`talk-last ${isBad ? "bad" : "hint"}`}>{summary(talk.lastMessage)}</span>
            <Time at={talk.lastMessageAt} />
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
