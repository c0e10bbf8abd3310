import type { Profile } from "../../types.ts";
import { control } from "../api/control.ts";
import { useLive } from "./use-live.ts";

/** Everybody but the bots. */
export interface People {
  /** Empty until they were read. */
  readonly people: readonly Profile[];
  readonly error: Error | undefined;
  readonly reload: () => Promise<void>;
}

/** Everybody but the bots. They come into being by what they do, too. */
export function usePeople(): People {
  const { data, error, reload } = useLive(control.people, {
    key: "people",
    concerns: ({ kind }) => kind === "event" || kind === "state",
  });
  return { people: data?.items ?? [], error, reload };
}
