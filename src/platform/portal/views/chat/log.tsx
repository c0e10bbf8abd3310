import { useRef, useState } from "preact/hooks";
import type { MessageView } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { Failure } from "../../parts/bits.tsx";
import { Action } from "../../parts/form.tsx";
import { attempt } from "../../parts/toast.tsx";
import { useEnd } from "../../parts/use-end.ts";
import { Message } from "./message.tsx";
import type { Messages } from "./use-messages.ts";

export interface LogProps {
  readonly messages: Messages;
  readonly atEnd: { current: boolean };
  /** Username of whose messages stand on the right. */
  readonly own: string;
  /** What the conversation is called. */
  readonly name: string;
}

/** The messages of a conversation. */
export function Log({ messages, atEnd, own, name }: LogProps) {
  const { data = [], more, error, reload, loadOlder } = messages;
  const log = useRef<HTMLDivElement>(null);
  const { unseen, toEnd, onScroll } = useEnd({
    log,
    atEnd,
    newest: data.at(-1)?.id,
    shown: messages.data,
  });
  return (
    <div class="log-frame">
      <div
        ref={log}
        class="log"
        role="log"
        aria-label={`Messages: ${name}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it can be scrolled, so the keyboard has to reach it
        tabIndex={0}
        onScroll={onScroll}
        onKeyDown={move}
      >
        {error !== undefined && <Failure error={error} retry={reload} />}
        {messages.data === undefined && error === undefined && <p class="hint">Loading…</p>}
        {more && <Action run={loadOlder}>Load older</Action>}
        <List items={data} own={own} reload={reload} />
      </div>
      {unseen && (
        <button type="button" class="primary unseen" onClick={toEnd}>
          New messages
        </button>
      )}
    </div>
  );
}

function List({ items, own, reload }: ListProps) {
  const [focused, setFocused] = useState("");
  const reached = items.some(({ id }) => id === focused) ? focused : items.at(-1)?.id;
  const remove = async (id: string) => {
    await attempt(() => control.deleteMessage(id), "Deleted. A deletion is no event.");
    // Its button is gone then.
    document.querySelector<HTMLElement>(`[data-item="${CSS.escape(id)}"]`)?.focus();
    await reload();
  };
  return (
    <ol class="messages">
      {items.map((message, index) => (
        <Message
          key={message.id}
          message={message}
          answered={items.find(({ id }) => id === message.replyToId)}
          isOwn={message.authorUsername === own}
          isSameAuthor={items[index - 1]?.authorUsername === message.authorUsername}
          reached={message.id === reached}
          onReach={() => setFocused(message.id)}
          onDelete={() => void remove(message.id)}
        />
      ))}
    </ol>
  );
}

interface ListProps {
  readonly items: readonly MessageView[];
  readonly own: string;
  readonly reload: () => Promise<void>;
}

const steps: Readonly<Record<string, number>> = { ArrowUp: -1, ArrowDown: 1 };

/** From message to message, once one has the focus. */
function move(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const step = steps[event.key];
  const all: Element[] = [...event.currentTarget.querySelectorAll("[data-item]")];
  const { activeElement } = document;
  const at = activeElement === null ? -1 : all.indexOf(activeElement);
  const next = at === -1 || step === undefined ? undefined : all[at + step];
  if (!(next instanceof HTMLElement)) return;
  event.preventDefault();
  next.focus();
}
