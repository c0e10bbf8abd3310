export class Values extends FormData {
  /** Returns a value, trimmed. Empty if absent. */
  text(name: string): string {
    return String(this.get(name) ?? "").trim();
  }

  /** Returns the checked values in the order of the page. */
  checked<T extends string>(name: string): T[] {
    return this.getAll(name).map((value) => value as T);
  }
}
