const time = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

/** The time of day here, as `service-bot dev` prints it. */
export function timeOfDay(at: string): string {
  return time.format(new Date(at));
}
