#include "tools/file_work.hpp"

namespace assent {

ToolSpec read_file_spec() {
    return {
        .name = "read_file",
        .description =
            "Reads a file of the workspace. Text comes as numbered lines (the number is not part of the line), from "
            "`offset` on and at most `limit` of them; any other file comes as base64.",
        .schema = R"({"type":"object","additionalProperties":false,"required":["file_path"],"properties":{)"
                  R"("file_path":{"type":"string","description":"Path of the file in the workspace."},)"
                  R"("offset":{"type":"integer","default":0,"description":"First line to read, from 0."},)"
                  R"("limit":{"type":"integer","default":100,"description":"How many lines to read at most."}}})",
        .read_only = true,
        .idempotent = true,
        .paths = {{.name = "file_path", .use = PathUse::read}}};
}

ToolSpec write_file_spec() {
    return {.name = "write_file",
            .description = "Creates a file in the workspace or replaces all of its content. Missing folders are made.",
            .schema =
                R"({"type":"object","additionalProperties":false,"required":["file_path","content"],"properties":{)"
                R"("file_path":{"type":"string","description":"Path of the file in the workspace."},)"
                R"("content":{"type":"string","description":"The whole content of the file."}}})",
            .paths = {{.name = "file_path"}}};
}

ToolSpec edit_file_spec() {
    return {.name = "edit_file",
            .description =
                "Replaces a text in a file of the workspace. The text must occur exactly once, unless `replace_all` is "
                "true. Give it as it is in the file, without line numbers.",
            .schema = R"({"type":"object","additionalProperties":false,)"
                      R"("required":["file_path","old_string","new_string"],"properties":{)"
                      R"("file_path":{"type":"string","description":"Path of the file in the workspace."},)"
                      R"("old_string":{"type":"string","minLength":1,"description":"The text to replace."},)"
                      R"("new_string":{"type":"string","description":"What takes its place."},)"
                      R"("replace_all":{"type":"boolean","default":false,)"
                      R"("description":"Replace it wherever it occurs."}}})",
            .paths = {{.name = "file_path"}}};
}

ToolSpec ls_spec() {
    return {
        .name = "ls",
        .description = "Lists a folder of the workspace, one path a line, sorted; folders end in a slash.",
        .schema =
            R"({"type":"object","additionalProperties":false,"properties":{)"
            R"("path":{"type":["string","null"],"default":"/","description":"Path of the folder in the workspace."}}})",
        .read_only = true,
        .idempotent = true,
        .paths = {{.name = "path", .use = PathUse::search}}};
}

ToolSpec delete_file_spec() {
    return {.name = "delete_file",
            .description =
                "Deletes a file of the workspace, or a folder with all that is in it. A link goes, not what it "
                "leads to.",
            .schema = R"({"type":"object","additionalProperties":false,"required":["file_path"],"properties":{)"
                      R"("file_path":{"type":"string","description":"Path of the file or folder in the workspace."}}})",
            .paths = {{.name = "file_path", .use = PathUse::remove}}};
}

ToolSpec glob_spec() {
    return {.name = "glob",
            .description =
                "Finds files of the workspace by their paths, one path a line, sorted. `**` stands for any number of "
                "folders, "
                "`*` and `?` for characters of a name, `[a-z]` for one of these, `{a,b}` for either. A pattern without "
                "a slash "
                "is looked for in every folder; one that begins with a slash begins at the workspace. Names that begin "
                "with a "
                "dot need a dot in the pattern. Links are not followed.",
            .schema =
                R"({"type":"object","additionalProperties":false,"required":["pattern"],"properties":{)"
                R"("pattern":{"type":"string","description":"The pattern, such as **/*.txt."},)"
                R"("path":{"type":["string","null"],"default":"/","description":"Path of the folder to search."}}})",
            .read_only = true,
            .idempotent = true,
            .paths = {{.name = "path", .use = PathUse::search, .pattern = "pattern"}}};
}

ToolSpec grep_spec() {
    return {
        .name = "grep",
        .description =
            "Looks for a text in the files of the workspace: the text itself, in one line, no regular expression. "
            "Files "
            "that are no UTF-8 text are passed over, and links are not followed.",
        .schema =
            R"({"type":"object","additionalProperties":false,"required":["pattern"],"properties":{)"
            R"("pattern":{"type":"string","minLength":1,"description":"The text to look for."},)"
            R"("path":{"type":["string","null"],"default":"/","description":"Path of the folder or file to search."},)"
            R"("glob":{"type":["string","null"],"description":"Search only files whose paths match, as in glob."},)"
            R"("output_mode":{"type":"string","enum":["files_with_matches","content","count"],)"
            R"("default":"files_with_matches","description":"Paths of files, or their matching lines, or how many."},)"
            R"("max_count":{"type":"integer","minimum":1,"default":1000,"description":"How many matches at most."}}})",
        .read_only = true,
        .idempotent = true,
        .paths = {{.name = "path", .use = PathUse::search, .pattern = "glob"}}};
}

}  // namespace assent
