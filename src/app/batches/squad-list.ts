/** A squad list as read: text only, without empty rows and columns. */
export interface SquadList {
  /** The columns' headings; "" for a column without one. */
  columns: string[];
  rows: ListRow[];
}

export interface ListRow {
  /** The row's number in the spreadsheet; the headings are usually in row 1. */
  line: number;
  /** One text per column. */
  cells: string[];
}

/** A column's heading, or its position when it has none. */
export function columnName(columns: string[], at: number): string {
  return columns[at] || `column ${at + 1}`;
}
