import { useRef } from "preact/hooks";

export interface FileButtonProps {
  readonly label: string;
  readonly name: string;
  readonly accept: string;
  readonly multiple?: boolean;
  readonly title?: string;
  readonly onFiles: (files: readonly File[]) => void;
}

export function FileButton(props: FileButtonProps) {
  const { label, name, accept, multiple = false, title, onFiles } = props;
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        multiple={multiple}
        accept={accept}
        aria-label={name}
        onChange={({ currentTarget }) => {
          const files = [...(currentTarget.files ?? [])];
          currentTarget.value = "";
          onFiles(files);
        }}
      />
      <button type="button" title={title} onClick={() => input.current?.click()}>
        {label}
      </button>
    </>
  );
}
