const time = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

export function timeOfDay(at: string): string {
  return time.format(new Date(at));
}
