import { useRef } from "preact/hooks";
import type { Page } from "../../types.ts";
import { type Live, type LiveOptions, useLive } from "./use-live.ts";

export interface Pages<T> extends Live<readonly T[]> {
  /** True when there are items after those that were read. */
  readonly more: boolean;
  readonly loadMore: () => Promise<void>;
}

/** Reads a list page by page, and all the pages again that were asked for whenever it may have changed. */
export function usePages<T>(
  read: (cursor?: string) => Promise<Page<T>>,
  options: LiveOptions,
): Pages<T> {
  const wanted = useRef({ key: options.key, pages: 1 });
  if (wanted.current.key !== options.key) wanted.current = { key: options.key, pages: 1 };
  const { data, error, reload } = useLive(async () => {
    const items: T[] = [];
    let cursor: string | undefined;
    for (let count = 0; count < wanted.current.pages; count += 1) {
      const page = await read(cursor);
      items.push(...page.items);
      cursor = page.nextCursor ?? undefined;
      if (cursor === undefined) break;
    }
    return { items, more: cursor !== undefined };
  }, options);
  const loadMore = () => {
    wanted.current.pages += 1;
    return reload();
  };
  return { data: data?.items, more: data?.more === true, error, reload, loadMore };
}
