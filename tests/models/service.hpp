// A model service on 127.0.0.1: renders what a model "said" in the form of either API, streamed or not,
// and checks every request as strictly as the real ones do.
#pragma once

#include "support/fakes.hpp"
#include "support/local_server.hpp"

#include <assent/model.hpp>

#include <deque>
#include <mutex>
#include <string>
#include <vector>

namespace assent::test {

enum class Api { anthropic, openai };

/// How an answer comes.
struct Way {
    Api api = Api::anthropic;
    bool streaming = true;
};
inline constexpr Way ways[] = {
    {Api::anthropic, true}, {Api::anthropic, false}, {Api::openai, true}, {Api::openai, false}};
std::string name_of(Way way);

struct Part {
    enum class Kind { text, thinking, call, block };
    Kind kind = Kind::text;
    std::string text;       ///< Text, thought, arguments, or a whole block (anthropic only).
    std::string tool = {};  ///< Call only.
    std::string id = {};    ///< Call: its id; thinking: the signature.
};
Part text(std::string text);
Part thinking(std::string text, std::string signature);
Part call(std::string tool, std::string id, std::string arguments);
/// A content block as it is; a streaming server sends it whole at its start.
Part block(std::string json);

struct Said {
    std::vector<Part> parts;
    std::string stop = {};     ///< In the words of the Messages API; empty: as the parts demand.
    std::size_t piece = 0;     ///< Bytes a delta; 0: two deltas each.
    bool interleaved = false;  ///< Deltas of the parts take turns.
};

/// `text` as a JSON string, with bytes that are not UTF-8 as they are.
std::string quoted(std::string_view text);
/// The events of a stream, each with its empty line.
std::vector<std::string> stream_of(const Said& said, Api api);
std::string whole_of(const Said& said, Api api);
/// The complete HTTP answer.
std::string answer_of(const Said& said, Way way);
std::string error_of(int status, const std::string& type, const std::string& message, Api api,
                     const std::string& headers = {});

/// What is wrong with a request; empty: nothing.
std::string fault_of(const Received& request, Way way);

inline constexpr const char* test_key = "sk-test-0123456789abcdef";

class Service {
public:
    explicit Service(Way way);

    Service& says(const Said& said) { return replies(answer_of(said, way_)); }
    Service& replies(std::string bytes, Reply::End end = Reply::End::close);
    Service& replies(Reply reply);
    /// Drops the next reply.
    void skip();

    [[nodiscard]] ServiceOptions options() const;
    /// The model of this service; pauses are noted, not waited.
    [[nodiscard]] std::shared_ptr<Model> model() { return model(options()); }
    [[nodiscard]] std::shared_ptr<Model> model(ServiceOptions options);

    /// What was wrong with requests so far, also that one did not begin as the one before.
    [[nodiscard]] std::vector<std::string> faults() const;
    [[nodiscard]] std::vector<Received> requests() const { return server_.received(); }
    [[nodiscard]] std::size_t request_count() const { return server_.count(); }
    [[nodiscard]] std::string url() const { return server_.url(); }
    [[nodiscard]] std::size_t replies_left() const;

    std::vector<std::int64_t> pauses;
    FakeRandom random;

private:
    Reply answer(const Received& request);

    Way way_;
    mutable std::mutex mutex_;
    std::deque<Reply> replies_;
    std::vector<std::string> faults_;
    std::vector<std::string> last_parts_;
    LocalServer server_;
};

/// One turn of a model, and what a listener saw.
struct Turn {
    Result<ModelTurn> result = Failure{};
    std::string heard;  ///< What counts at the end.
    int dropped = 0;
    bool heard_broken_character = false;
};
Turn take_turn(Model& model, const std::vector<Message>& messages = {{.role = Role::user, .text = "go"}},
               const std::vector<const ToolSpec*>& tools = {}, const std::stop_token& stop = {});

}  // namespace assent::test
