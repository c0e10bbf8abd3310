import type { AppView } from "../../types.ts";
import { control } from "../api/control.ts";
import { bot } from "./settings.ts";
import { createLive } from "./use-live.ts";

const reading = createLive(control.apps.list, {
  concerns: ({ kind }) => kind !== "event" && kind !== "api" && kind !== "fault",
});

export function useShownApp() {
  const { data, error, reload } = reading.value;
  const apps = data;
  const app = apps?.find((each) => each.bot.username === bot.value) ?? apps?.[0];
  return { apps, app, error, reload };
}

/** Selects a bot. The setting is empty for the first bot. */
export function lookAt(username: string, apps: readonly AppView[]): void {
  bot.value = username === apps[0]?.bot.username ? "" : username;
}
