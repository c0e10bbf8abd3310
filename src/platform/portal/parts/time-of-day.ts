const time = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

/** Formats a local time of day like `service-bot dev`. */
export function timeOfDay(at: string): string {
  return time.format(new Date(at));
}
