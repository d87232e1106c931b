// A page for a person: lines of our own, and texts of models and tools that cannot be taken for them.
//
// A foreign text of several lines stands behind a gutter, each line of it; one of a single line
// follows its name. Neither can begin a line. Nothing is cut; runs of blanks and of blank lines are folded with
// their count.
#pragma once

#include "cli/terminal.hpp"

#include <assent/arguments.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace assent::cli {

/// Longer runs are folded.
inline constexpr std::size_t blank_lines_max = 3;
inline constexpr std::size_t blanks_max = 40;

enum class Numbers { none, lines };

class Page {
public:
    explicit Page(const Terminal& terminal) : terminal_(terminal) {}

    /// Lines of our own, already styled.
    void line(std::string_view ours = {});
    /// A fact: its name is ours, its value is made safe.
    void fact(std::string_view name, std::string_view value);
    /// A foreign name and what it stands for on one line: `value` must be safe already.
    void named(std::string_view name, std::size_t name_width, std::string_view value);
    /// A foreign text behind the gutter, in full.
    void block(std::string_view text, Numbers numbers = Numbers::none);
    /// What changed from one foreign text to the other, behind the gutter. Of lines that did not
    /// change, `context` around each change are shown and the others counted.
    void diff(std::string_view before, std::string_view after, std::size_t context);
    /// Remembers that `text`, which is shown in another form, hides characters.
    void look_at(const JsonNode& node);

    [[nodiscard]] bool hidden_characters() const noexcept { return hidden_characters_; }
    /// Columns of the longest foreign line.
    [[nodiscard]] std::size_t widest() const noexcept { return widest_; }
    [[nodiscard]] const Terminal& terminal() const noexcept { return terminal_; }
    [[nodiscard]] const std::string& text() const noexcept { return text_; }

private:
    struct Gutter {
        std::string mark;  ///< A line number or nothing, right-aligned.
        Style style = Style::plain;
        std::string_view sign;  ///< Of a diff.
    };
    void foreign_line(const Gutter& gutter, std::string_view line);
    void folded(const std::string& mark, const std::string& what);
    std::string made_safe(std::string_view text);

    const Terminal& terminal_;
    std::string text_;
    bool hidden_characters_ = false;
    std::size_t widest_ = 0;
};

/// `text` with runs of more than `blanks_max` columns of blanks replaced by their count.
[[nodiscard]] std::string fold_blanks(std::string_view text);
/// A foreign text on one line: as it is if it can be read in one way only, else as a JSON string.
[[nodiscard]] std::string one_line(std::string_view text);
/// The foreign name of a value: one with blanks in it stands in quotes, so that it is no row of ours.
[[nodiscard]] std::string shown_name(std::string_view name);
/// Columns that `text` takes; an upper bound for what is no Latin letter.
[[nodiscard]] std::size_t columns(std::string_view text);
/// True if a string or a key anywhere in it hides characters.
[[nodiscard]] bool hides_characters(const JsonNode& node);

}  // namespace assent::cli
