import { control } from "../api/control.ts";
import type { Profile } from "../api/shapes.ts";
import { bot } from "./settings.ts";
import { useLive } from "./use-live.ts";

/** The bot that is looked at; undefined until it is known. */
export function useBot(): Profile | undefined {
  const { data } = useLive(control.state, {
    key: `bot ${bot.value}`,
    concerns: ({ kind }) => kind === "app" || kind === "state",
  });
  return data?.bot;
}
