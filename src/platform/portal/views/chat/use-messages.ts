import type { RefObject } from "preact";
import { useRef } from "preact/hooks";
import type { MessageView } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { touches } from "../../live/touches.ts";
import { type Live, useLive } from "../../live/use-live.ts";

/** How many messages are read at once. */
const LIMIT = 50;

export interface Messages extends Live<readonly MessageView[]> {
  /** True when there are older ones. */
  readonly more: boolean;
  readonly loadOlder: () => Promise<void>;
}

/**
 * The newest messages of a conversation, and those before them that were asked for, oldest first. While somebody reads
 * further up, what they see is not forgotten, however many come.
 *
 * @param id `undefined` for a conversation that has not begun
 * @param atEnd whether the newest message is in sight
 */
export function useMessages(id: string | undefined, atEnd: RefObject<boolean>): Messages {
  const oldest = useRef<string | undefined>(undefined);
  const { data, error, reload } = useLive(
    async () => {
      const read = await newest(id, atEnd.current === true ? undefined : oldest.current);
      oldest.current = read.items[0]?.id;
      return read;
    },
    { key: id ?? "", concerns: touches("conversationId", id) },
  );
  const loadOlder = async () => {
    const before = oldest.current;
    if (before === undefined || id === undefined) return;
    const { items } = await control.messages(id, { limit: LIMIT, before });
    oldest.current = items[0]?.id ?? before;
    atEnd.current = false;
    await reload();
  };
  return { data: data?.items, more: data?.more === true, error, reload, loadOlder };
}

/** @param downTo the oldest message that is to be there */
async function newest(id: string | undefined, downTo: string | undefined) {
  if (id === undefined) return { items: [], more: false };
  const { items: last, more: hasMore } = await control.messages(id, { limit: LIMIT });
  let items = last;
  let more = hasMore;
  while (more && downTo !== undefined && !items.some((message) => message.id === downTo)) {
    const before = items[0]?.id ?? "";
    const older = await control.messages(id, { limit: LIMIT, before });
    items = [...older.items, ...items];
    more = older.more;
  }
  return { items, more };
}
