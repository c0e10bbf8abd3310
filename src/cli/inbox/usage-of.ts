/** What the usage of `inbox` says of one of its actions: its lines, and what they mean by FILTER. All of it for a name that it lacks. */
export function usageOf(usage: string, action: string): string {
  const [filter = "", ...lines] = usage.split("\n").reverse();
  const whole = lines.reverse();
  const begins = (line: string) => /^(?:inbox| {1,26}[a-z])/.test(line);
  const from = whole.findIndex((line) => /^(?:inbox \[)?\s*([a-z]+)/.exec(line)?.[1] === action);
  if (from === -1) return usage;
  const next = whole.findIndex((line, index) => index > from && begins(line));
  const own = whole.slice(from, next === -1 ? undefined : next);
  const text = own.join("\n").replace(/^ +/, "inbox ");
  return text.includes("FILTER") ? `${text}\n${filter}` : text;
}
