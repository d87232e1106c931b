#include "exec/helper_report.hpp"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <optional>

namespace assent {
namespace {

constexpr std::string_view format_line = "assent-exec report 1\n";
constexpr std::string_view format_begin = "assent-exec report ";
constexpr const char* ended_format =
    "ended started=%d exit=%d signal=%d timed_out=%d cancelled=%d runner_died=%d left=%d limit_ms=%" PRId64;
constexpr std::size_t sum_size = 13;  // "sum 01234567\n"

std::uint32_t crc32(std::string_view bytes) {
    constexpr auto table = [] {
        std::array<std::uint32_t, 256> made{};
        for (std::uint32_t i = 0; i < made.size(); ++i) {
            made[i] = i;
            for (int bit = 0; bit < 8; ++bit) made[i] = made[i] >> 1 ^ ((made[i] & 1U) != 0 ? 0xedb88320U : 0U);
        }
        return made;
    }();
    std::uint32_t sum = ~0U;
    for (const char c : bytes) sum = sum >> 8 ^ table[(sum ^ static_cast<unsigned char>(c)) & 0xffU];
    return ~sum;
}

std::string sum_line(std::string_view bytes) {
    std::array<char, sum_size + 1> line{};
    std::snprintf(line.data(), line.size(), "sum %08" PRIx32 "\n", crc32(bytes));
    return line.data();
}

std::string stream_line(const char* name, const CapturedStream& stream) {
    return std::string(name) + " " + std::to_string(stream.total_bytes()) + " " + std::to_string(stream.head().size()) +
           " " + std::to_string(stream.tail().size()) + "\n";
}

const char* or_dash(const std::string& text) {
    return text.empty() ? "-" : text.c_str();
}

std::string text_of(const std::array<char, 80>& word) {
    const std::string_view text = word.data();
    return text == "-" ? std::string() : std::string(text);
}

Failure torn() {
    return {FailureKind::tool, "the report of the shell helper is torn"};
}

// Takes one line off `rest`, without its end.
std::string take_line(std::string_view& rest) {
    const auto end = rest.find('\n');
    std::string line(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    return line;
}

struct Kept {
    std::uint64_t written = 0;
    std::uint64_t head = 0;
    std::uint64_t tail = 0;
};

bool read_sizes(const std::string& line, const char* format, Kept& kept) {
    return std::sscanf(line.c_str(), format, &kept.written, &kept.head, &kept.tail) == 3 && kept.head <= kept.written &&
           kept.tail <= kept.written - kept.head;
}

// Takes the kept bytes of one stream off `rest`.
std::optional<CapturedStream> take_stream(std::string_view& rest, const Kept& kept) {
    if (kept.head > rest.size() || kept.tail > rest.size() - kept.head) return std::nullopt;
    CapturedStream stream(std::string(rest.substr(0, kept.head)), std::string(rest.substr(kept.head, kept.tail)),
                          kept.written);
    rest.remove_prefix(kept.head + kept.tail);
    return stream;
}

bool read_end(const std::string& line, HelperReport& report) {
    int started = 0;
    int timed_out = 0;
    int cancelled = 0;
    int runner_died = 0;
    if (std::sscanf(line.c_str(), ended_format, &started, &report.exit, &report.signal, &timed_out, &cancelled,
                    &runner_died, &report.left, &report.limit_ms) != 8)
        return false;
    report.started = started != 0;
    report.timed_out = timed_out != 0;
    report.cancelled = cancelled != 0;
    report.runner_died = runner_died != 0;
    return true;
}

}  // namespace

std::string with_sum(std::string bytes) {
    return bytes += sum_line(bytes);
}

std::string encode(const HelperReport& report) {
    std::array<char, 512> lines{};
    std::snprintf(lines.data(), lines.size(), "attempt %s line %s\nfailed %s %d\n", or_dash(report.attempt),
                  or_dash(report.line_sha256), or_dash(report.failed_step), report.failed_error);
    std::string bytes = std::string(format_line) + lines.data();
    std::snprintf(lines.data(), lines.size(), ended_format, report.started ? 1 : 0, report.exit, report.signal,
                  report.timed_out ? 1 : 0, report.cancelled ? 1 : 0, report.runner_died ? 1 : 0, report.left,
                  report.limit_ms);
    bytes += std::string(lines.data()) + "\n" + stream_line("out", report.out) + stream_line("err", report.err);
    for (const auto* stream : {&report.out, &report.err}) {
        bytes += stream->head();
        bytes += stream->tail();
    }
    return with_sum(std::move(bytes));
}

Result<HelperReport> read_report(std::string_view bytes) {
    if (!bytes.starts_with(format_begin)) return torn();
    if (!bytes.starts_with(format_line)) {
        return Failure{FailureKind::tool,
                       "the report of the shell helper has a format that this version does not know"};
    }
    if (bytes.size() < sum_size) return torn();
    std::string_view rest = bytes.substr(0, bytes.size() - sum_size);
    if (bytes.substr(rest.size()) != sum_line(rest)) return torn();
    rest.remove_prefix(format_line.size());

    HelperReport report;
    std::array<char, 80> attempt{};
    std::array<char, 80> line{};
    std::array<char, 80> step{};
    Kept out;
    Kept err;
    const bool read =
        std::sscanf(take_line(rest).c_str(), "attempt %79s line %79s", attempt.data(), line.data()) == 2 &&
        std::sscanf(take_line(rest).c_str(), "failed %79s %d", step.data(), &report.failed_error) == 2 &&
        read_end(take_line(rest), report) && read_sizes(take_line(rest), "out %" SCNu64 " %" SCNu64 " %" SCNu64, out) &&
        read_sizes(take_line(rest), "err %" SCNu64 " %" SCNu64 " %" SCNu64, err);
    if (!read) return torn();
    auto out_stream = take_stream(rest, out);
    auto err_stream = take_stream(rest, err);
    if (!out_stream || !err_stream || !rest.empty()) return torn();
    report.attempt = text_of(attempt);
    report.line_sha256 = text_of(line);
    report.failed_step = text_of(step);
    report.out = std::move(*out_stream);
    report.err = std::move(*err_stream);
    // Numbers are read more freely than they are written: only what the helper writes is believed.
    if (encode(report) != bytes) return torn();
    return report;
}

}  // namespace assent
