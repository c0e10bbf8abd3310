export class Values extends FormData {
  /** Returns a form value, trimmed. Empty if absent. */
  text(name: string): string {
    return String(this.get(name) ?? "").trim();
  }

  /** Returns the checked values, in page order. */
  checked<T extends string>(name: string): T[] {
    return this.getAll(name).map((value) => value as T);
  }
}
