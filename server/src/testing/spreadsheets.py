# Prints the cells that openpyxl (.xlsx) and xlrd (.xls) read from workbooks, one line of JSON for each, for spreadsheets.ts.
# Arguments: paths.
import io
import json
import sys
import warnings
import zipfile

import openpyxl
import xlrd

warnings.simplefilter("ignore")


def of_xlsx(path):
    # Keeps numbers as in the file: openpyxl would convert them to dates, and it has no 29 February 1900.
    openpyxl.worksheet._reader.from_excel = lambda value, *_, **__: {"days": value}
    # In read-only mode, openpyxl keeps the values under merged cells and does not add links to empty cells.
    book = openpyxl.load_workbook(transitional(path), read_only=True, data_only=True, keep_links=False)
    for sheet in book.worksheets:
        if sheet.sheet_state != "visible":
            continue
        sheet.reset_dimensions()
        yield sheet.title, [(f"{cell.row},{cell.column}", cell.value) for row in sheet.rows for cell in row if cell.value is not None]


# openpyxl knows only the older of the two sets of names for the parts of a workbook.
STRICT = {
    b"http://purl.oclc.org/ooxml/officeDocument/relationships": b"http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    b"http://purl.oclc.org/ooxml/spreadsheetml/main": b"http://schemas.openxmlformats.org/spreadsheetml/2006/main",
}


def transitional(path):
    written = io.BytesIO()
    with zipfile.ZipFile(path) as before, zipfile.ZipFile(written, "w") as after:
        for entry in before.infolist():
            data = before.read(entry)
            for strict, other in STRICT.items():
                data = data.replace(strict, other)
            after.writestr(entry, data)
    return written


def of_xls(path):
    book = xlrd.open_workbook(path, logfile=io.StringIO())
    for sheet in book.sheets():
        if sheet.visibility == 0:
            yield sheet.name, [
                (f"{i + 1},{j + 1}", of_cell(sheet.cell(i, j))) for i in range(sheet.nrows) for j in range(sheet.row_len(i))
            ]


def of_cell(cell):
    if cell.ctype == xlrd.XL_CELL_DATE:
        return {"days": cell.value}
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return bool(cell.value)
    if cell.ctype == xlrd.XL_CELL_ERROR:
        return {"error": xlrd.error_text_from_code[cell.value]}
    return cell.value


for path in sys.argv[1:]:
    try:
        read = of_xls if path.lower().endswith(".xls") else of_xlsx
        sheets = [
            {"name": name, "cells": [cell for cell in cells if cell[1] is not None]} for name, cells in read(path)
        ]
        line = json.dumps({"path": path, "sheets": sheets}, default=str)
    except Exception as error:
        line = json.dumps({"path": path, "error": repr(error)})
    print(line, flush=True)
