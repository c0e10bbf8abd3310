import type { ComponentChildren } from "preact";
import type { Live } from "../../../live/use-live.ts";
import { Failure } from "../../../parts/bits.tsx";

interface LoadedProps<T> {
  readonly live: Live<T>;
  readonly children: (data: T) => ComponentChildren;
}

/** What was read, or why it could not be. */
export function Loaded<T>({ live: { data, error, reload }, children }: LoadedProps<T>) {
  return (
    <>
      {error !== undefined && <Failure error={error} retry={reload} />}
      {data !== undefined && children(data)}
      {data === undefined && error === undefined && <p class="hint">Reading…</p>}
    </>
  );
}
