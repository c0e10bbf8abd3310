import { useMemo } from "preact/hooks";
import type { Page } from "../../types.ts";
import { type Live, type LiveOptions, useLive } from "./use-live.ts";

export interface Pages<T> extends Live<readonly T[]> {
  /** Reads one more page. `undefined` if there are no more items. */
  readonly more: (() => Promise<void>) | undefined;
}

export function usePages<T>(
  read: (cursor?: string) => Promise<Page<T>>,
  options: LiveOptions & { readonly key: string },
): Pages<T> {
  const pages = useMemo(() => ({ current: 1 }), [options.key]);
  const { data, ...live } = useLive(async () => {
    let { items, nextCursor } = await read();
    for (let count = 1; count < pages.current && nextCursor !== null; count += 1) {
      const page = await read(nextCursor);
      items = [...items, ...page.items];
      nextCursor = page.nextCursor;
    }
    return { items, more: nextCursor !== null };
  }, options);
  const loadMore = () => {
    pages.current += 1;
    return live.reload();
  };
  return { ...live, data: data?.items, more: data?.more === true ? loadMore : undefined };
}
