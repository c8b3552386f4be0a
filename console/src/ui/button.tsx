import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon";

interface Props {
  readonly children?: ComponentChildren;
  readonly icon?: IconName;
  /** The accessible name of a button that has only an icon. */
  readonly label?: string;
  readonly tone?: "primary" | "danger" | "danger-text" | "quiet";
  readonly small?: boolean;
  readonly type?: "button" | "submit";
  readonly disabled?: boolean;
  /** Whether what the button opens is open. */
  readonly isExpanded?: boolean;
  readonly onClick?: (event: MouseEvent) => void;
}

export function Button({ children, icon, label, tone, small, type = "button", disabled, isExpanded, onClick }: Props) {
  const kinds = ["button", tone, small && "small", children === undefined && "icon"].filter(Boolean).join(" ");
  return (
    <button
      aria-expanded={isExpanded}
      aria-label={label}
      class={kinds}
      disabled={disabled}
      onClick={onClick}
      title={label}
      type={type}
    >
      {icon && <Icon name={icon} size={small ? 14 : 15} />}
      {children}
    </button>
  );
}
