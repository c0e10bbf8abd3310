/** Values of the fields of a form. */
export class Values extends FormData {
  /** Reads one value, trimmed. An absent one is empty. */
  text(name: string): string {
    return String(this.get(name) ?? "").trim();
  }

  /** Reads the checked values, in the order of the page. */
  checked<T extends string>(name: string): T[] {
    return this.getAll(name).map((value) => value as T);
  }
}
