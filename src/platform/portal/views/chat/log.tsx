import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { MessageView } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { touches } from "../../live/touches.ts";
import { useLive } from "../../live/use-live.ts";
import { Failure } from "../../parts/bits.tsx";
import { Action } from "../../parts/form.tsx";
import { Icon } from "../../parts/icon.tsx";
import { attempt } from "../../parts/toast.tsx";
import { trace } from "./activity.tsx";
import { Entry } from "./entry.tsx";

const PAGE_LIMIT = 50;

/** Distance from the end that still counts as the end, in CSS pixels. */
const END_TOLERANCE = 32;

export interface LogProps {
  readonly id: string;
  /** Username of the author whose messages appear on the right. */
  readonly own: string;
  readonly name: string;
}

/** The column is reversed, so that the browser keeps the end visible. */
export function Log({ id, own, name }: LogProps) {
  const log = useRef<HTMLDivElement>(null);
  /**
   * Oldest message to reload. Set only while the end is out of view, so that the list still begins with the same
   * message after a reload.
   */
  const oldest = useRef<string | undefined>(undefined);
  const [isUnseen, setUnseen] = useState(false);
  const { data, error, reload } = useLive(() => readDownTo(id, oldest.current), {
    key: id,
    concerns: touches("conversationId", id),
  });
  const { items = [], more = false } = data ?? {};
  const newest = items.at(-1);
  const toEnd = () => log.current?.scrollTo(0, 0);
  useLayoutEffect(() => setUnseen(oldest.current !== undefined), [newest?.id]);
  return (
    <div class="log-frame">
      <div
        ref={log}
        class="log"
        role="log"
        aria-label={`Messages: ${name}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element must be reachable by keyboard
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop } }) => {
          // `scrollTop` is 0 at the end and negative above it.
          const isEnd = scrollTop > -END_TOLERANCE;
          oldest.current = isEnd ? undefined : (oldest.current ?? items[0]?.id);
          if (isEnd) setUnseen(false);
        }}
        onKeyDown={onKey}
        onClick={({ target }) => {
          const isText = getSelection()?.isCollapsed === false;
          if (!isText && !(target as Element).closest("button, a, dialog")) trace(itemOf(target));
        }}
      >
        <ol class="messages">
          {items.map((message, index) => (
            <Message
              key={message.id}
              message={message}
              answered={items.find((each) => each.id === message.replyToId)}
              isOwn={message.authorUsername === own}
              isSameAuthor={items[index - 1]?.authorUsername === message.authorUsername}
              isLast={message === newest}
              onDelete={() => void remove(message.id).then(reload)}
            />
          ))}
        </ol>
        {more && (
          <Action
            run={async () => {
              oldest.current = (await read(id, items[0]?.id)).items[0]?.id;
              await reload();
            }}
          >
            Load older
          </Action>
        )}
        {data === undefined && error === undefined && <p class="hint">Loading…</p>}
        {error !== undefined && <Failure error={error} retry={reload} />}
      </div>
      {isUnseen && (
        <button type="button" class="primary unseen" onClick={toEnd}>
          New messages
        </button>
      )}
    </div>
  );
}

function read(id: string, before?: string) {
  return control.messagesPage(id, { limit: PAGE_LIMIT, before });
}

async function readDownTo(id: string, oldest: string | undefined) {
  let { items, more } = await read(id);
  while (more && oldest !== undefined && items.every((message) => message.id !== oldest)) {
    const page = await read(id, items[0]?.id);
    items = [...page.items, ...items];
    more = page.more;
  }
  return { items, more };
}

async function remove(id: string): Promise<void> {
  await attempt(() => control.deleteMessage(id), "Deleted. A deletion creates no event.");
  // Restore the focus, because the focused button has disappeared.
  document.querySelector<HTMLElement>(`[data-item="${CSS.escape(id)}"]`)?.focus();
}

function itemOf(target: EventTarget | null): string | undefined {
  return (target as Element).closest<HTMLElement>("[data-item]")?.dataset["item"];
}

function onKey(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const { key, target, currentTarget } = event;
  const all = [...currentTarget.querySelectorAll<HTMLElement>("[data-item]")];
  const at = all.indexOf(target as HTMLElement);
  if (key === "Enter" && at >= 0) trace(itemOf(target));
  if (key === "Delete") all[at]?.parentElement?.querySelector<HTMLElement>(".delete")?.click();
  const next = key === "ArrowUp" ? all.at(at < 0 ? -1 : at - 1) : all[at + 1];
  if ((key !== "ArrowUp" && key !== "ArrowDown") || next === undefined) return;
  event.preventDefault();
  next.focus();
}

interface MessageProps {
  readonly message: MessageView;
  /** The message that this one replies to, if it is in the list. */
  readonly answered: MessageView | undefined;
  readonly isOwn: boolean;
  readonly isSameAuthor: boolean;
  readonly isLast: boolean;
  readonly onDelete: () => void;
}

function Message({ message, answered, isOwn, isSameAuthor, isLast, onDelete }: MessageProps) {
  const { id, authorUsername: by, fromBot, text, images, createdAt } = message;
  // A deleted message stays in the list but has no text and no images (section 2 of the platform document).
  const isDeleted = text === "" && images.length === 0;
  const time = new Date(createdAt).toLocaleString();
  return (
    <li class={isOwn ? "message own" : "message"}>
      <article
        tabIndex={-1}
        data-item={id}
        aria-label={`@${by}, ${time}`}
        aria-keyshortcuts={isDeleted ? undefined : "Delete"}
        title={time}
      >
        <Entry
          of={{ ...message, author: { username: by, isBot: fromBot } }}
          isHeadless={isSameAuthor}
          isLast={isLast}
        >
          {answered !== undefined && !isOwn && (
            <p class="answered">
              @{answered.authorUsername}: {answered.text || "…"}
            </p>
          )}
          {isDeleted && <p class="hint">deleted</p>}
        </Entry>
      </article>
      {!isDeleted && (
        <button
          type="button"
          class="quiet small delete"
          tabIndex={-1}
          aria-label={`Delete @${by}'s message: ${text.slice(0, 40)}`}
          title="Delete"
          onClick={onDelete}
        >
          <Icon name="trash" />
        </button>
      )}
    </li>
  );
}
