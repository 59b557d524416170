import { strToU8, zipSync } from "fflate";

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships";

/** The first row: Name, No., Born. */
export const HEAD =
  '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="inlineStr"><is><t>Born</t></is></c></row>';

/** A workbook as Excel writes it, with one sheet of these rows. */
export function workbook(rows: string, more: Record<string, Uint8Array> = {}): Uint8Array {
  const files = {
    "[Content_Types].xml": `${XML}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
    "_rels/.rels": `${XML}<Relationships xmlns="${PACKAGE}"><Relationship Id="rId1" Type="${LINKS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    "xl/workbook.xml": `${XML}<workbook xmlns="${MAIN}" xmlns:r="${LINKS}"><sheets><sheet name="Squad" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `${XML}<Relationships xmlns="${PACKAGE}"><Relationship Id="rId1" Type="${LINKS}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${LINKS}/sharedStrings" Target="sharedStrings.xml"/><Relationship Id="rId3" Type="${LINKS}/styles" Target="styles.xml"/></Relationships>`,
    "xl/sharedStrings.xml": `${XML}<sst xmlns="${MAIN}"><si><t>Name</t></si><si><t>No.</t></si><si><r><t>Jos</t></r><r><t>é</t></r></si></sst>`,
    "xl/styles.xml": `${XML}<styleSheet xmlns="${MAIN}"><cellXfs><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>`,
    "xl/worksheets/sheet1.xml": `${XML}<worksheet xmlns="${MAIN}"><sheetData>${rows}</sheetData></worksheet>`,
  };
  const entries = Object.entries(files).map(([name, text]) => [name, strToU8(text)]);
  return zipSync({ ...Object.fromEntries(entries), ...more });
}
